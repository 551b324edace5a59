"""Evaluations in notebooks: a small table of their own, without scripts or styles from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulens.report.summary import summarise

if TYPE_CHECKING:
    from pulens.doors.evaluate import Evaluation

_TEMPLATE = """\
<div class="pulens">
{%- for sentence in summary.verdict %}
<p><b>{{ sentence }}</b></p>
{%- endfor %}
<p>{{ summary.counts }}<br>
{%- if summary.clusters %}{{ summary.clusters }}<br>{% endif -%}
{{ summary.class_prior }}<br>Speaks of {{ summary.population }}.
{%- if summary.scenario %}<br>Scenario: {{ summary.scenario }}.{% endif %}</p>
{%- if audit %}
<p>{{ summary.audit.checked }} {{ summary.audit.labelling }}</p>
<table>
<thead><tr><th scope="col" style="text-align:left">metric</th><th scope="col">assuming nothing</th>
<th scope="col">interval</th>{% if audit.has_if_random %}<th scope="col">
{%- if audit.contradicted %}{{ audit.contradicted }}: {% endif %}assuming random labels</th>
<th scope="col">interval</th>
{%- endif %}<th scope="col">recovered</th></tr></thead>
<tbody>
{%- for row in audit.rows %}
<tr><td style="text-align:left">{{ row.title }}</td><td><b>{{ row.one }}</b></td><td>{{ row.one_limits }}</td>
{%- if audit.has_if_random %}<td>{{ row.two }}</td><td>{{ row.two_limits }}</td>{% endif -%}
<td>{{ row.recovered }}</td></tr>
{%- endfor %}
</tbody></table>
{%- endif %}
<table>
<thead><tr><th scope="col" style="text-align:left">metric</th><th scope="col">recovered</th>
{%- if summary.interval_name %}<th scope="col">{{ summary.interval_name }}</th>{% endif -%}
<th scope="col">uncorrected</th><th scope="col" style="text-align:left">meaning</th></tr></thead>
<tbody>
{%- for title, rows in groups %}
<tr><th scope="rowgroup" colspan="5" style="text-align:left">{{ title }}</th></tr>
{%- for row in rows %}
<tr><td style="text-align:left">{{ row.name }}</td><td title="{{ row.recovered.undefined_because or '' }}">
{{- row.marked_value }}</td>
{%- if summary.interval_name %}<td>{{ row.interval }}</td>{% endif -%}
<td>{{ row.naive }}</td><td style="text-align:left">{{ row.meaning }}</td></tr>
{%- endfor %}{% endfor %}
</tbody></table>
{%- if summary.legend %}
<p>{{ summary.legend }}</p>
{%- endif %}
{%- if summary.notices %}
<ul>{% for notice in summary.notices %}<li><b>{{ notice.severity.name.lower() }}</b> {{ notice }}</li>{% endfor %}</ul>
{%- endif %}
{%- if summary.next_steps %}
<p>next</p>
<ol>{% for step in summary.next_steps %}<li>{{ step.sentence }}<br><code>{{ step.call }}</code></li>{% endfor %}</ol>
{%- endif %}
</div>
"""


def evaluation_html(evaluation: Evaluation) -> str:
    """The table of :func:`pulens.report.text.evaluation_text`, as HTML with every text escaped."""
    from jinja2 import Environment

    from pulens.report.audit_page import columns_table

    summary = summarise(evaluation)
    groups = (
        ("ranking", summary.ranking),
        (summary.threshold_title, summary.at_threshold),
    )
    audit = None if summary.audit is None else columns_table(summary.audit)
    return Environment(autoescape=True).from_string(_TEMPLATE).render(summary=summary, groups=groups, audit=audit)
