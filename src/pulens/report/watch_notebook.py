"""A watch in notebooks: the verdict, the last windows as a small table, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulens.notice import Severity
from pulens.report.watch import next_steps, table_of, verdict, vouching
from pulens.report.watch_text import EXPLAINED

if TYPE_CHECKING:
    from pulens.monitoring import Pulse

_TEMPLATE = """\
<div class="pulens">
<p><b>{{ verdict }}</b></p>
{%- if doubt %}<p><b>{{ doubt }}</b></p>{% endif %}
{%- if table.rows %}
<table>
<thead><tr>{% for name in table.columns %}<th scope="col" style="text-align:left">{{ name }}</th>{% endfor %}</tr>
</thead><tbody>
{%- for trust, row in table.rows %}
<tr>{% for cell in row %}<td style="text-align:left{% if trust != 'ok' %};opacity:.6{% endif %}">{{ cell }}</td>
{%- endfor %}</tr>
{%- endfor %}
</tbody></table>
{%- if left %}<p>The last {{ table.rows | length }} of {{ left }} windows.</p>{% endif %}
{%- endif %}
{%- if notices %}
<ul>{% for notice in notices %}<li><b>{{ notice.severity.name.lower() }}</b> {{ notice }}</li>{% endfor %}</ul>
{%- endif %}
{%- if steps %}<p>next</p><ol>{% for step in steps %}<li>{{ step }}</li>{% endfor %}</ol>{% endif %}
<p><code>{{ log_line }}</code></p>
</div>
"""


def watch_html(pulse: Pulse) -> str:
    """The text of a watch as HTML with every name escaped."""
    from jinja2 import Environment

    windows = list(pulse.windows.values())
    doubt = vouching(pulse)
    told = [one for one in pulse.notices if one.severity > Severity.NOTE and (doubt is None or str(one) not in doubt)]
    return (
        Environment(autoescape=True)
        .from_string(_TEMPLATE)
        .render(
            verdict=verdict(pulse),
            doubt=doubt,
            table=table_of(windows[-EXPLAINED:]),
            left=len(windows) if len(windows) > EXPLAINED else 0,
            notices=told[:EXPLAINED],
            steps=next_steps(pulse, "python"),
            log_line=pulse.log_line,
        )
    )
