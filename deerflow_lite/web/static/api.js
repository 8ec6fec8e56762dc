// Asks the service's public API and turns every refusal into one kind of error.
// It keeps nothing, retries nothing, and knows no view.

const BASE = '/api';
const SIGN_IN = '/signin';
const CSRF = /(?:^|; )deerflow_lite_csrf=([0-9a-f]+)/;

/** A refusal: `status` 0 means that no answer came; `detail` is the service's own sentence. */
export class ApiError extends Error {
  constructor(status, detail, more = {}) {
    super(detail);
    Object.assign(this, { status, detail, errors: {}, requestId: null, retryAfter: null }, more);
  }
}

/** Ask, and give the answer itself; throws ApiError, and AbortError where `signal` was aborted. */
export async function request(method, path, body, { signal, keepalive = false, headers = {} } = {}) {
  const answer = await reached(BASE + path, {
    method, signal, keepalive,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...csrf(), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.ok) return answer;
  if (answer.status === 401) signIn();
  throw await refusal(answer);
}

/** Ask, and give `{data, headers}`; `data` is null where the answer has no body. */
export async function ask(method, path, body, options) {
  const answer = await request(method, path, body, options);
  const text = await answer.text();
  return { data: text ? JSON.parse(text) : null, headers: answer.headers };
}

export const get = async (path, options) => (await ask('GET', path, undefined, options)).data;
export const post = async (path, body, options) => (await ask('POST', path, body, options)).data;
export const put = async (path, body, options) => (await ask('PUT', path, body, options)).data;
export const patch = async (path, body, options) => (await ask('PATCH', path, body, options)).data;
export const remove = async (path, options) => (await ask('DELETE', path, undefined, options)).data;

/** The path of a thread, or of something below it. */
export const threadPath = (id, rest = '') => `/threads/${encodeURIComponent(id)}${rest}`;

/** True where the reader has signed in, so that there is somebody to sign out. */
export const signedIn = () => CSRF.test(document.cookie);

/** True where the caller itself gave up. */
export const aborted = (error) => error?.name === 'AbortError';

/** One sentence for a reader; where the service failed, with the id to look up in its log. */
export function sentence(error) {
  const text = error instanceof ApiError ? error.detail : `The page failed: ${error?.message ?? error}`;
  return error?.status >= 500 && error.requestId ? `${text} (request ${error.requestId})` : text;
}

/** What a write of a signed-in page must carry; no page of another origin can read it. */
function csrf() {
  const [, token] = CSRF.exec(document.cookie) ?? [];
  return token ? { 'X-CSRF-Token': token } : {};
}

async function reached(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (aborted(error)) throw error;
    throw new ApiError(0, 'The service cannot be reached.');
  }
}

async function refusal(answer) {
  const told = await answer.json().catch(() => ({}));
  return new ApiError(answer.status, told.detail ?? `The service answered ${answer.status}.`, {
    errors: told.errors ?? {},
    requestId: answer.headers.get('X-Request-Id'),
    retryAfter: Number(answer.headers.get('Retry-After')) || null,
  });
}

function signIn() {
  const here = location.pathname + location.search;
  location.assign(`${SIGN_IN}?next=${encodeURIComponent(here)}`);
}
