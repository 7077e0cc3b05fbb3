"""The course's colours for plots, the same as in the labs' stylesheet (the Okabe–Ito palette, safe for colour-blind
readers)."""

QUERY, KEY, VALUE, SEE, ACCENT = "#0072b2", "#d55e00", "#009e73", "#56b4e9", "#e69f00"
PINK, INK, SOFT, LINE = "#cc79a7", "#1f2328", "#57606a", "#d8dee4"
