"""Reliability diagrams as HTML: a drawing without scripts or styles from elsewhere, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pulens.calibration.reliability import Reliability

SIDE, MARGIN, BELOW = 300, 40, 60  # of the square, around it, and of the histogram under it

_TEMPLATE = """\
<div class="pulens">
<p><b>{{ error }}</b><br>{{ diagram.error.bins }} bins of equal {{ diagram.error.binning }}, mean score
{{ "%.4f" % diagram.mean_score }}, class prior {{ "%.4f" % diagram.class_prior }}.
Population: {{ diagram.target_population }}.</p>
{{ drawing }}
<details><summary>bins</summary>
<table>
<thead><tr><th scope="col">scores</th><th scope="col">labelled</th><th scope="col">unlabelled</th>
<th scope="col">predicted</th><th scope="col">actual</th><th scope="col">interval</th><th scope="col"></th></tr></thead>
<tbody>
{%- for one, verdict in bins %}
<tr><td>({{ "%.4f" % one.low }}, {{ "%.4f" % one.high }}]</td><td>{{ "{:,.10g}".format(one.labelled) }}</td>
<td>{{ "{:,.10g}".format(one.unlabelled) }}</td>
{%- if one.fraction == one.fraction %}<td>{{ "%.4f" % one.confidence }}</td><td>{{ "%.4f" % one.clipped }}</td>
<td>{% if one.interval %}{{ "%.3f" % one.interval.low }} to {{ "%.3f" % one.interval.high }}{% endif %}</td>
<td>{{ verdict }}</td>{% else %}<td colspan="4">no rows of the population</td>{% endif %}</tr>
{%- endfor %}
</tbody></table></details>
{%- if diagram.notices %}
<ul>{% for notice in diagram.notices %}<li><b>{{ notice.severity.name.lower() }}</b> {{ notice }}</li>{% endfor %}</ul>
{%- endif %}
</div>
"""


def reliability_html(diagram: Reliability) -> str:
    """The diagram, its bins and its notices, every text escaped."""
    from jinja2 import Environment
    from markupsafe import Markup

    drawing = Markup(reliability_svg(diagram))  # it holds numbers only
    template = Environment(autoescape=True).from_string(_TEMPLATE)
    return template.render(
        diagram=diagram,
        bins=list(zip(diagram.bins, diagram.verdicts, strict=True)),
        error=str(diagram.error),
        drawing=drawing,
    )


def reliability_svg(diagram: Reliability) -> str:
    """Points with their intervals against the diagonal, the density of scores below; holds numbers only."""

    def x(value: float) -> str:
        return f"{MARGIN + SIDE * value:.1f}"

    def y(value: float) -> str:
        return f"{MARGIN / 2 + SIDE * (1 - min(max(value, 0.0), 1.0)):.1f}"

    floor = MARGIN / 2 + SIDE
    shapes = [
        f'<rect x="{x(0)}" y="{y(1)}" width="{SIDE}" height="{SIDE}" fill="none" stroke="currentColor" opacity=".4"/>',
        f'<line x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}" stroke="currentColor" opacity=".5" '
        'stroke-dasharray="4 3"/>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        shapes.append(f'<text x="{x(tick)}" y="{floor + BELOW + 18:.1f}" text-anchor="middle">{tick:g}</text>')
        shapes.append(f'<text x="{MARGIN - 6}" y="{y(tick)}" text-anchor="end" dy=".35em">{tick:g}</text>')
    for one in diagram.points:
        if one.interval is not None:
            shapes.append(
                f'<line x1="{x(one.confidence)}" x2="{x(one.confidence)}" y1="{y(one.interval.low)}" '
                f'y2="{y(one.interval.high)}" stroke="#1f5fa8" stroke-width="2" opacity=".45"/>'
            )
    joined = " ".join(f"{x(one.confidence)},{y(one.clipped)}" for one in diagram.points)
    shapes.append(f'<polyline points="{joined}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>')
    shapes += [
        f'<circle cx="{x(one.confidence)}" cy="{y(one.clipped)}" r="3.5" fill="#1f5fa8">'
        f"<title>predicted {one.confidence:.4f}, actual {one.clipped:.4f}</title></circle>"
        for one in diagram.points
    ]
    wide = [one for one in diagram.bins if one.high > one.low and one.population > 0]
    tallest = max((one.population / (one.high - one.low) for one in wide), default=1.0)
    for one in wide:
        height = (BELOW - 6) * one.population / (one.high - one.low) / tallest
        shapes.append(
            f'<rect x="{x(one.low)}" y="{floor + BELOW - height:.1f}" width="{SIDE * (one.high - one.low):.2f}" '
            f'height="{height:.1f}" fill="#1f5fa8" opacity=".5"/>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE + 2 * MARGIN} {floor + BELOW + 40:.0f}" '
        f'width="{SIDE + 2 * MARGIN}" role="img" font-family="sans-serif" font-size="11" fill="currentColor">'
        "<title>Reliability diagram: recovered share of positives against score</title>"
        + "".join(shapes)
        + f'<text x="{x(0.5)}" y="{floor + BELOW + 34:.1f}" text-anchor="middle">score</text></svg>'
    )
