// What every box that text is typed into needs: it grows with its text, and the Enter of an input method sends nothing.

/** Whether a key belongs to an input method that is composing; some browsers only say so by the code 229. */
export const composing = (event) => event.isComposing || event.keyCode === 229;

/** Make a box as high as its text; the style sheet says how high at most. */
export function fitted(box) {
  box.style.height = 'auto';
  box.style.height = `${box.scrollHeight + box.offsetHeight - box.clientHeight}px`;
}
