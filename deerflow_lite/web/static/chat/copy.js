// Copies text, also where the page is not served over HTTPS and browsers keep their clipboard closed.
// It says whether it could; it shows nothing.

/** Copy a text; false where the browser would not. */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text);
  }
}

function copiedByHand(text) {
  const box = document.createElement('textarea');
  const before = document.activeElement;
  box.value = text;
  box.className = 'unseen';
  // Inside an open dialog nothing outside of it can be selected.
  (before?.closest('dialog') ?? document.body).append(box);
  box.select();
  try {
    return document.execCommand('copy');
  } finally {
    box.remove();
    before?.focus?.();
  }
}
