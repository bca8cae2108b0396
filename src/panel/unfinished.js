/**
 * Who logs in again goes on where they were: in the same view, with the same search, the same feed
 * that is written down and the same question.
 */
const NAME = 'depotd-unfinished';
/** A question of before a log-in lives so long: who comes back later begins anew. */
const LIMIT_MS = 15 * 60_000;

/**
 * @param questions functions that ask before they act, by name; their arguments are JSON
 * @returns the same functions, the last of which can be asked again, and how to go on
 */
export function createUnfinished(questions) {
  let asked;
  /** What was asked before the page was left, until somebody is logged in. */
  let left = {};
  const isOpen = () => document.querySelector('dialog[open]') !== null;
  const remembering = Object.entries(questions).map(([name, ask]) => [
    name,
    (...values) => {
      asked = { name, values };
      return ask(...values).finally(() => (asked = undefined));
    },
  ]);
  return {
    questions: Object.fromEntries(remembering),
    /** Before the page is left for the log-in. */
    keep: () => {
      const { hash } = location;
      const fields = writtenFields().map(({ value, checked }) => ({ value, checked }));
      store({ ...left, hash, fields, at: Date.now(), ...(isOpen() && asked) });
    },
    /** Before the first view is shown: the one that was left. */
    restore: () => {
      const { hash, at, fields, ...question } = readOnce();
      if (!(Date.now() - at < LIMIT_MS)) return;
      left = question;
      for (const [index, field] of writtenFields().entries()) {
        Object.assign(field, fields?.[index]);
        const folded = field.closest('details');
        if (folded !== null && field.value !== '') folded.open = true;
      }
      if (hash !== location.hash) {
        history.replaceState(null, '', `${location.pathname}${location.search}${hash}`);
      }
    },
    /** When somebody is logged in. */
    goOn: () => {
      const { name, values } = left;
      left = {};
      // Logged in without leaving: what was kept for that is not asked later.
      readOnce();
      if (Object.hasOwn(questions, name ?? '')) void questions[name](...values);
    },
  };
}

function writtenFields() {
  return [...document.querySelectorAll('form.filters :is(input, select), #feeds-form input')];
}

function store(value) {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing: then the page begins anew.
  }
}

function readOnce() {
  try {
    const found = JSON.parse(sessionStorage.getItem(NAME) ?? '{}');
    sessionStorage.removeItem(NAME);
    return found;
  } catch {
    return {};
  }
}
