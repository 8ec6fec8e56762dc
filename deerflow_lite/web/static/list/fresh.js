// Keeps the list true to what happens elsewhere: when the page is looked at again, and while a chat is being answered.
// It holds no rows.

import { useEffect } from '../html.js';
import { TABS, recheck, refresh, shown } from './rows.js';

const EVERY = 2500;

/** Refresh the list for as long as it stands. */
export function useFreshness() {
  useEffect(() => {
    const looked = () => { if (document.visibilityState === 'visible') refresh(); };
    document.addEventListener('visibilitychange', looked);
    return () => document.removeEventListener('visibilitychange', looked);
  }, []);
  const busy = Object.keys(TABS).some((tab) => shown[tab].value.rows.some(({ status }) => status === 'busy'));
  useEffect(() => {
    if (!busy) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') recheck().catch(() => {}); // the next round asks again
    }, EVERY);
    return () => clearInterval(timer);
  }, [busy]);
}
