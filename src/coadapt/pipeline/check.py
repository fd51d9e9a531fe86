"""placeholder"""


def check(*a, **k):
    pass
