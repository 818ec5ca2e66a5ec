"""Two rows of a ledger, as `companion.claims.table` returns them."""

import pandas as pd

FRAME = pd.DataFrame(
    [
        {
            "verdict": "✗ not reproduced, undecided",
            "the paper says": "The loss is < 0.1 & falls.",
            "remark": "",
            "false steps": ["the-sum"],
            "stands": "Counted < otherwise.",
            "printed": "< 0.1",
            "measured": "0.30 ± 0.01",
            "unit": "loss",
            "control": "accepting everybody: 0.40 ± 0.01",
            "in the paper": "Section 6",
            "where we check it": "chapters/06_experiments#fig-1",
            "evidence": "simulation",
        },
        {
            "verdict": "✎ corrected",
            "the paper says": "The sum is small.",
            "remark": "A slip.",
            "false steps": [],
            "stands": "",
            "printed": "≤ 2 → ≤ 3",
            "measured": "2.5 as printed → 1 as corrected",
            "unit": "",
            "control": "",
            "in the paper": "Appendix B",
            "where we check it": "chapters/corrections",
            "evidence": "",
        },
    ],
    index=["the-loss", "the-sum"],
)
