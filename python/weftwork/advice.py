"""What to write instead, so that calls of a function are one program."""

from __future__ import annotations

import re

__all__ = ["advice_for"]

OUTSIDE = "do it where the function is called, before or after the call"
#: Pattern of a reason, and what helps; the first that is found counts.
ADVICE = [
    (r"'(open|input|print|breakpoint)' is called", OUTSIDE),
    (r"random", "pass the random numbers, or make them by wf.random from a key"),
    (r"with a cache", "call the function below the cache (`__wrapped__`), or pass what it gives as an argument"),
    (r"may have effects|is called$", f"{OUTSIDE}; a function of arrays without effects can be an operation: wf.custom_op"),
    (r"is imported", "import the module at the top of the file"),
    (r"a class is made", "make the class outside of the function"),
    (r"is deleted", "store None in its place"),
    (r"as text|in an exception", "make the text of what the function returns"),
    (r"which may raise", "divide by np.divide and the like, which give infinities where Python raises"),
    (r"elements of the surroundings", "keep the numbers in one array"),
    (r"an array of type", "pass a plain array: np.asarray(x)"),
    (r"an array of |dtype must be", "pass arrays of numbers or booleans"),
    (r"must be (a )?plain ndarray", "pass a plain array: np.asarray(x)"),
    (r"object of type|of an object|C code|metaclass|__getattribute__", "pass the arrays and numbers that are needed of it"),
    (r"looks at the frames", "pass what is needed of the calling function as an argument"),
    (r"has views", "write to the array before the views are made, or make it of values: np.stack, np.where"),
    (r"a result that contains itself|that the function made", "return arrays, numbers, tuples, lists and dictionaries"),
    (r"the result is a view", "return a copy: x[...].copy()"),
    (r"sorted", "np.sort and np.argsort sort arrays"),
    (r"a set of the surroundings", "keep a tuple or a list"),
    (r"asynchronous", "call it from plain functions"),
    (r"ways through", "pass what differs from call to call as arrays or floats, not as integers, texts or functions"),
]  # fmt: skip


def advice_for(reason: str) -> tuple[str, str]:
    """A reason without what it says of the remedy, and the remedy; an empty text where none is known."""
    text = re.sub(r"  \[\w+\]$", "", reason.split("\n")[0])
    text = re.sub(r"^\w+Error: ", "", text)
    reason, found, remedy = text.partition("; ")
    if found:
        return reason, remedy
    return reason, next((advice for pattern, advice in ADVICE if re.search(pattern, text)), "")
