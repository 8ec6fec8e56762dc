// Keeps the list true to what happens elsewhere: when the page is looked at again, and while a chat is being answered.
// It holds no rows.

import { signal, useEffect } from '../html.js';
import { TABS, recheck, refresh, shown } from './rows.js';

const EVERY = 2500;
const MINUTE = 60_000;

/** Counts minutes: who reads it tells times and days anew. */
export const minute = signal(0);

/** Refresh the list for as long as it stands. */
export function useFreshness() {
  useEffect(() => {
    const looked = () => { if (document.visibilityState === 'visible') refresh(); };
    const timer = setInterval(() => { minute.value += 1; }, MINUTE);
    document.addEventListener('visibilitychange', looked);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', looked);
    };
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
