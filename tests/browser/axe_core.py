"""Runs axe-core on an open page and gives what it finds serious; it mends nothing."""

from functools import cache
from pathlib import Path

from playwright.sync_api import Page

SOURCE = Path(__file__).with_name("axe-core") / "axe.min.js"
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] });
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => [id, ...nodes.map((node) => `${node.target} ${node.failureSummary}`)].join(' | '));
}"""


@cache
def source() -> str:
    return SOURCE.read_text(encoding="utf-8")


def serious(page: Page) -> list[str]:
    """Give the serious and critical findings on the page as it stands."""
    page.evaluate(source())
    return list(page.evaluate(RUN))
