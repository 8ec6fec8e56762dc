"""The list of chats as a test reads and uses it."""

from playwright.sync_api import Locator, Page, expect


def rows(page: Page) -> Locator:
    """Give the links of the list, in order."""
    return page.locator(".row a.row-link")


def titles(page: Page) -> list[str]:
    """Give the titles in the list, in order."""
    return page.locator(".row .row-title").all_text_contents()


def row(page: Page, title: str) -> Locator:
    """Give the row of a title."""
    return page.locator(".row").filter(has=page.get_by_text(title, exact=True))


def choose(page: Page, title: str, entry: str) -> None:
    """Choose an entry of a row's menu."""
    row(page, title).hover()
    page.get_by_role("button", name=f"More for {title}").click()
    page.get_by_role("menuitem", name=entry, exact=True).click()


def tab(page: Page, name: str) -> Locator:
    """Give a tab of the list."""
    return page.get_by_role("tab", name=name)


def counted(page: Page, recent: int, archived: int) -> None:
    """Expect these numbers beside the names of the tabs."""
    expect(tab(page, "Recent")).to_have_text(f"Recent {recent}")
    expect(tab(page, "Archived")).to_have_text(f"Archived {archived}")


def to_the_end(page: Page, line: str) -> None:
    """Scroll on until the line that ends the list is there."""
    page.wait_for_function(
        """line => {
          const end = document.querySelector('.rows .end');
          end?.scrollIntoView();
          return end?.textContent.includes(line);
        }""",
        arg=line,
    )


def note(page: Page, text: str) -> Locator:
    """Expect a note with this text and give it."""
    found = page.locator(".toast").filter(has_text=text)
    expect(found).to_be_visible()
    return found
