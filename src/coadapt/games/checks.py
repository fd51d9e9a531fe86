"""What a game must be; where it is not, a sentence says so."""

import reprlib
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from coadapt.configs.checks import MOST_STEPS, MOST_UNITS, whole
from coadapt.games.game import MAIN, PARTNER, WHO_SITS, check_outcome, legal_actions, privileged_view
from coadapt.games.traced import Unfit, check_alike, check_method, shapes_of, traced

NEEDS: dict[str, tuple[str, ...]] = {
    "reset": ("key",),
    "step": ("state", "actions", "key"),
    "observe": ("state", "seat"),
}
MAY_HAVE: dict[str, tuple[str, ...]] = {
    "legal": ("state", "seat"),
    "privileged": ("state", "seat"),
    "starts": (),
    "outcomes": ("state", "actions"),
}


def check_parts(game: Any) -> None:
    """A sentence unless a game has all that a game needs. Nothing of it is called, so this takes no time."""
    if isinstance(game, type):
        raise Unfit(f"a game must be an object, not the class {game.__name__}; write {game.__name__}()")
    for name, arguments in NEEDS.items():
        check_method(game, name, arguments)
    for name, arguments in MAY_HAVE.items():
        if getattr(game, name, None) is not None:
            check_method(game, name, arguments)
    _check_actions(game)
    whole(f"{type(game).__name__}.max_steps", getattr(game, "max_steps", None), most=MOST_STEPS)


def _check_actions(game: Any) -> None:
    """The numbers of actions are a pair: JAX needs them beforehand, and to compare them they must be a tuple."""
    given, name = getattr(game, "num_actions", None), f"{type(game).__name__}.num_actions"
    if not isinstance(given, tuple) or len(given) != 2:
        raise Unfit(f"{name} must be a pair, one number for each seat, such as (2, 2), not {reprlib.repr(given)}")
    for number in given:
        whole(f"each of {name}", number, most=MOST_UNITS)


class Shapes(NamedTuple):
    """What a game shows, as shapes; pairs are in the order of the seats."""

    observations: tuple[Any, Any]
    legal: tuple[Any, Any]
    privileged: Any  # what a scripted partner may look at


def check_functions(game: Any) -> Shapes:
    """A sentence unless all functions of a game can be compiled and what they return fits; else what it shows."""
    check_parts(game)
    name, key = type(game).__name__, jax.eval_shape(lambda: jax.random.key(0))
    actions = jax.ShapeDtypeStruct((), jnp.int32), jax.ShapeDtypeStruct((), jnp.int32)
    state = traced(f"{name}.reset", game.reset, key)
    shown = _shown(game, state)
    step = lambda *given: check_outcome(game, game.step(*given))
    after, _ = traced(f"{name}.step", step, state, actions, key)
    check_alike("the state", state, after, f"{name}.reset", f"{name}.step")
    for seat, (before, now) in enumerate(zip(shown.observations, _shown(game, after).observations, strict=True)):
        check_alike(f"what {WHO_SITS[seat]} observes", before, now, "one call of observe", "the next")
    _check_chances(game, state, actions)
    return shown


def _shown(game: Any, state: Any) -> Shapes:
    name = type(game).__name__
    observe = lambda seat: traced(f"{name}.observe", lambda state: game.observe(state, seat), state)
    legal = lambda seat: traced(f"{name}.legal", lambda state: legal_actions(game, state, seat), state)
    view = traced(f"{name}.privileged", lambda state: privileged_view(game, state, PARTNER), state)
    observations = observe(MAIN), observe(PARTNER)
    for seat, observation in enumerate(observations):
        if not jax.tree.leaves(observation):
            raise Unfit(f"{name}.observe must show {WHO_SITS[seat]} at least one array, not {observation!r}")
    return Shapes(observations, (legal(MAIN), legal(PARTNER)), view)


def _check_chances(game: Any, state: Any, actions: tuple[Any, Any]) -> None:
    """A game may also list its chances; whoever works with these lists checks what is in them."""
    if getattr(game, "starts", None) is not None:
        traced(f"{type(game).__name__}.starts", game.starts)
    if getattr(game, "outcomes", None) is not None:
        traced(f"{type(game).__name__}.outcomes", game.outcomes, state, actions)


def check_same_seats(game: Any, shapes: Shapes) -> None:
    """A sentence unless one player can take either seat."""
    main, partner = shapes.observations
    kinds = [jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), each) for each in (main, partner)]
    if len(set(game.num_actions)) > 1 or kinds[MAIN] != kinds[PARTNER]:
        has = lambda seat: f"{game.num_actions[seat]} actions and sees {shapes_of(shapes.observations[seat])}"
        raise Unfit(
            "whoever plays with copies of itself needs two seats that are alike, and in"
            f" {type(game).__name__} {WHO_SITS[MAIN]} has {has(MAIN)}, and {WHO_SITS[PARTNER]} has {has(PARTNER)}"
        )
