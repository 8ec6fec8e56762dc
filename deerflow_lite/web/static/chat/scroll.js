// Where a conversation is scrolled to: at its end it follows what comes, elsewhere it stays where the reader is.
// It knows no turn.

import { useEffect, useLayoutEffect, useRef, useState } from '../html.js';

const NEAR = 60;
const EARLY = 600;

/** Give `{frame, atEnd, toEnd}` for a scrolling element; `onTop` is asked for more when its top comes near. */
export function useScroll(onTop) {
  const frame = useRef(null);
  const sticking = useRef(true);
  const asking = useRef(false);
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = (smooth = false) => {
    sticking.current = true;
    frame.current?.scrollTo({ top: frame.current.scrollHeight, behavior: smooth && calm() ? 'smooth' : 'instant' });
  };

  const more = async () => {
    if (asking.current) return;
    asking.current = true;
    const box = frame.current;
    const below = box.scrollHeight - box.scrollTop;
    await onTop().finally(() => { asking.current = false; });
    requestAnimationFrame(() => { if (frame.current === box) box.scrollTop = box.scrollHeight - below; });
  };

  useLayoutEffect(() => {
    const box = frame.current;
    let top = box.scrollTop;
    const scrolled = () => {
      const end = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      // What grows below moves nothing up: only the reader does, and then the end is let go.
      if (end) sticking.current = true;
      else if (box.scrollTop < top) sticking.current = false;
      top = box.scrollTop;
      setAtEnd(end || sticking.current);
      if (box.scrollTop < EARLY && box.scrollHeight > box.clientHeight) more();
    };
    const grown = new ResizeObserver(() => (sticking.current ? toEnd() : scrolled()));
    box.addEventListener('scroll', scrolled, { passive: true });
    grown.observe(box);
    grown.observe(box.firstElementChild);
    return () => { grown.disconnect(); box.removeEventListener('scroll', scrolled); };
  }, [frame.current]);

  useEffect(() => { toEnd(); }, []);
  return { frame, atEnd, toEnd };
}

const calm = () => !matchMedia('(prefers-reduced-motion: reduce)').matches;
