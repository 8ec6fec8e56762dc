"""The verbs of a reader in an open conversation, by what stands on the page; it asserts nothing of its own."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.watch import watch_of

HIDE = (
    "hidden => { Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });"
    " document.dispatchEvent(new Event('visibilitychange')); }"
)


class Reader:
    """Somebody who reads and writes in one chat."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True)

    def ask(self, text: str) -> None:
        self.box.fill(text)
        self.box.press("Enter")

    def answered(self, *texts: str) -> None:
        """Wait until the turns hold these texts, the question and the answer of each joined, and nothing is running."""
        expect(self.page.locator(".turn[data-status=running]")).to_have_count(0)
        expect(self.page.locator(".turn")).to_have_count(len(texts))
        for number, text in enumerate(texts):
            expect(self.turn(number)).to_contain_text(text)

    def turn(self, number: int) -> Locator:
        return self.page.locator(".turn").nth(number)

    def button(self, number: int, name: str) -> Locator:
        """Give a button of a turn."""
        return self.turn(number).get_by_role("button", name=name, exact=True)

    def edit(self, number: int, text: str) -> None:
        self.turn(number).hover()
        self.button(number, "Edit").click()
        self.page.get_by_role("textbox", name="Edit the question").fill(text)
        self.page.get_by_role("button", name="Ask this").click()

    def questions(self) -> list[str]:
        return self.page.locator(".question-text").all_inner_texts()

    def tree(self) -> Locator:
        """Open the tree and give its rows."""
        if not self.page.get_by_role("tree").is_visible():
            self.page.get_by_role("button", name="Tree of this chat").click()
        return self.page.get_by_role("treeitem")

    def choice(self, number: int) -> Locator:
        """Give the place among the answers beside each other, like 2/3."""
        return self.turn(number).locator(".switcher span")

    def posted(self, path: str) -> list[Any]:
        """Give the bodies that the page has posted to a path that ends so."""
        return [body for verb, where, body in watch_of(self.page).requests if verb == "POST" and where.endswith(path)]
