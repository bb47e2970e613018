"""Random numbers: drawn by Python between two pieces, from generators whose state can be put back."""

from __future__ import annotations

import operator
import random
from functools import cache
from typing import Any

import numpy as np

from ..numpy.tracer import TracedArray
from .breaks import Breaks, real_values
from .host import Called, Draw, draws_by_numpy, is_generator

__all__ = ["Draws"]

#: What makes generators, of seeds alone.
MAKERS = ("default_rng", "Generator", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
#: Methods that do no more than to draw, or to seed.
DISTRIBUTIONS = [
    "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel",
    "hypergeometric", "integers", "laplace", "logistic", "lognormal", "logseries", "multinomial", "multivariate_hypergeometric",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto", "permutation",
    "permuted", "poisson", "power", "rand", "randint", "randn", "random", "random_integers", "random_sample", "rayleigh",
    "ranf", "sample", "seed", "shuffle", "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal", "standard_t",
    "tomaxint", "triangular", "uniform", "vonmises", "wald", "weibull", "zipf",
]  # fmt: skip
OF_PYTHON = ["random", "choice", "choices", "sample", "uniform", "gauss", "normalvariate", "randint", "randrange", "getrandbits", "expovariate", "betavariate",
             "gammavariate", "lognormvariate", "paretovariate", "triangular", "vonmisesvariate", "weibullvariate", "seed"]  # fmt: skip
NAMES = {True: frozenset(OF_PYTHON), False: frozenset(DISTRIBUTIONS)}


@cache
def numpys_makers() -> frozenset[int]:
    return frozenset(id(getattr(np.random, name)) for name in MAKERS)


@cache
def functions_of_the_global() -> dict[int, str]:
    functions = {name: getattr(np.random, name) for name in ("seed", "ranf", "sample")}
    return {id(function): name for name, function in functions.items() if not hasattr(function, "__self__")}


def makes_generator(function: Any) -> bool:
    return function is random.Random or (draws_by_numpy() and id(function) in numpys_makers())


def method_of_the_global(function: Any) -> str | None:
    """The method of NumPy's own generator that a function is by another name."""
    return functions_of_the_global().get(id(function)) if draws_by_numpy() else None


class Draws(Breaks):
    """The part of a recorder that draws random numbers."""

    def host_argument(self, value: Any, step: int) -> None:
        """A generator among the arguments: each call has its own."""
        self.steps.check("type", step, type(value))
        self.hosted[id(value)] = (value, step)

    def draw(self, owner: Any, name: str, args: tuple, kwargs: dict[str, Any]) -> Any:
        if not self.can_break() or name not in NAMES[type(owner) is random.Random] or kwargs.get("out") is not None:
            return self.refuse(f"'{name}' draws random numbers")
        if name == "shuffle" and not (args and isinstance(args[0], TracedArray)):
            return self.refuse("'shuffle' of what is no array that the program computes")
        if not self.session.path:
            self.evaluate([])  # the checks of the first piece are made before a call begins
        drawn = self.host_call(Draw(name), (owner, *args), kwargs)
        if name == "shuffle":
            return self.guarded(operator.setitem, (args[0], ..., drawn), {})
        return drawn

    def make_generator_of(self, maker: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A generator that the function makes: made anew at each call."""
        if not self.can_break():
            return self.refuse("a generator of random numbers is made")
        operands = self.host_operands([*args, *kwargs.values()])
        real = real_values(operands)
        function = Called(maker, tuple(kwargs))
        if any(is_generator(value) for value in real):
            return self.refuse("a generator of random numbers is made of another")
        made = self.computed(function, operands)
        step = self.steps.call(function, operands)
        self.hosted[id(made)] = (made, step)
        return made
