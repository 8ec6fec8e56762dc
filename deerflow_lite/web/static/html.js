// What every view draws with: Preact, htm, hooks and signals under one name.
// It holds no view and no state of its own.

import htm from './vendor/htm/htm.js';
import { Fragment, createPortal, h, render } from './vendor/preact/preact.js';

export { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from './vendor/preact/hooks.js';
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from
  './vendor/signals/signals.js';
export { Fragment, createPortal, h, render };

/** Markup as a tagged template; every `${value}` is text or a property, never parsed as markup. */
export const html = htm.bind(h);
