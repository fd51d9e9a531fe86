"""Commands by name, in groups. Only the parser of the one that is asked for is built: answers come at once."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import make_dataclass
from typing import Any, TypeVar

import tyro
from tyro.conf import DisallowNone, FlagCreatePairsOff
from tyro.extras import SubcommandApp

Target = TypeVar("Target", bound="Callable[..., Any] | Commands")

PARSED = (DisallowNone, FlagCreatePairsOff)


class Commands:
    """A group of commands, some of which may be groups themselves."""

    def __init__(self, description: str):
        self.__doc__ = description
        self.named: dict[str, Callable[..., Any] | Commands] = {}

    def command(self, name: str) -> Callable[[Target], Target]:
        """Let a function, or a group, answer to this name."""

        def added(target: Target) -> Target:
            self.named[name] = target
            return target

        return added

    def answer(self, called: str, arguments: Sequence[str]) -> None:
        """Do what the arguments ask for; `called` is how the person called this group."""
        name, *rest = arguments or [""]
        name = name.replace("_", "-")
        target = self.named.get(name)
        if isinstance(target, Commands):
            target.answer(f"{called} {name}", rest)
        elif target is not None:
            tyro.cli(target, prog=f"{called} {name}", args=rest, config=PARSED)
        else:
            self._explain(called, arguments)

    def _explain(self, called: str, arguments: Sequence[str]) -> None:
        """The help, or what is wrong with a name; or, for a shell that completes words, all there is to know."""
        whole = any(argument.startswith("--tyro-") for argument in arguments)
        self._parsers(whole).cli(prog=called, description=self.__doc__, args=arguments, config=PARSED)

    def _parsers(self, whole: bool) -> SubcommandApp:
        """Of all commands; unless the whole is asked for, they know no arguments but only what they are for."""
        app = SubcommandApp()
        for name, target in self.named.items():
            within: Any = target._parsers(whole) if isinstance(target, Commands) else target
            known: Any = within if whole else make_dataclass(name, ())
            app.command(known, name=name, help=_first_paragraph(target))
        return app


def _first_paragraph(target: Any) -> str:
    return (inspect.getdoc(target) or "").partition("\n\n")[0]
