import numpy as np

from icct.polish.objective import score


def test_scores_of_many_candidates_at_once():
    returns = np.arange(40.0).reshape(2, 20)
    assert score(returns, "mean").tolist() == [9.5, 29.5]
    assert score(returns[:, ::-1], "worst-10%").tolist() == [0.5, 20.5]
