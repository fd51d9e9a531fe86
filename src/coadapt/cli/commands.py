"""Commands by name, in groups. Only the parser of the one that is asked for is built: answers come at once."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import make_dataclass
from typing import Any

import tyro
from tyro.conf import DisallowNone, FlagCreatePairsOff
from tyro.extras import SubcommandApp

PARSED = (DisallowNone, FlagCreatePairsOff)


Named = dict[str, "Callable[..., Any] | Commands"]
"""What each name stands for."""


class Commands:
    """A group of commands, some of which may be groups themselves."""

    def __init__(self, description: str, named: Named):
        self.__doc__ = description
        self.named: Named = named

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
            first_paragraph, _, _ = (inspect.getdoc(target) or "").partition("\n\n")
            app.command(known, name=name, help=first_paragraph)
        return app
