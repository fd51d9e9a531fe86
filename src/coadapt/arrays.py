"""Names for the arrays that travel between the floors."""

from typing import TypeVar

import numpy as np
from jaxtyping import Array as Array
from jaxtyping import Bool as Bool
from jaxtyping import Float as Float
from jaxtyping import Int as Int
from jaxtyping import Integer as Integer
from jaxtyping import Key as TypedKeys
from jaxtyping import PRNGKeyArray

Key = PRNGKeyArray
Keys = TypedKeys[Array, "partners games"]
Flag = Bool[Array, ""]
Count = Int[Array, ""]
Scalar = Float[Array, ""]
Vector = Float[Array, "_"]

EitherArray = TypeVar("EitherArray", Array, np.ndarray)
"""For arithmetic that serves JAX in play and NumPy, in double precision, in the oracles."""
