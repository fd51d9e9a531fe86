"""Names for the arrays that travel between the floors."""

from typing import TypeVar

import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer, PRNGKeyArray
from jaxtyping import Key as TypedKeys

Key = PRNGKeyArray
Keys = TypedKeys[Array, "partners games"]
Flag = Bool[Array, ""]
Count = Int[Array, ""]
Scalar = Float[Array, ""]
Vector = Float[Array, "_"]

EitherArray = TypeVar("EitherArray", Array, np.ndarray)
"""For arithmetic that serves JAX in play and NumPy, in double precision, in the oracles."""

__all__ = [
    "Array",
    "Bool",
    "Count",
    "EitherArray",
    "Flag",
    "Float",
    "Int",
    "Integer",
    "Key",
    "Keys",
    "Scalar",
    "Vector",
]
