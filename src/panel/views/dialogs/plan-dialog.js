import { byId, element, setText, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { setDisabled } from '../../permission.js';
import { problemBox } from '../../problems.js';
import { CONFIRM_S } from '../../undo.js';
import { askIn } from './confirm.js';
import { bringsMore, contentOf, fileIn, isEmpty, missingIn } from './plan-content.js';
import { removableList } from './removable.js';
import { createSetUp } from './set-up.js';
import { createTypedName } from './typed-name.js';

/** From this on somebody is told that working out a plan takes its time. */
const SLOW_MS = 4000;

/**
 * Asks before packages are changed, with what the change is made of.
 * @param api reads the plan
 * @param leadOn actions of problems by name; the dialog closes before one is done
 * @param onRemovable gets an item that somebody wants to remove to make room
 */
export function createPlanDialog({ api, leadOn, onRemovable }) {
  const dialog = byId('plan');
  const body = byId('plan-body');
  const yes = byId('plan-yes');
  const setUp = createSetUp();
  const translation = createTranslationSwitch();
  const [purge, cutOff] = [createPurgeBox(), createCutOff()];
  const extras = [translation, purge, cutOff];
  const typed = createTypedName(yes);
  listenForEnter(dialog, yes);

  /** What is done when the dialog has closed: it may be another question in the same dialog. */
  let next;
  const closeAnd = (act) => {
    next = act;
    dialog.close('no');
  };
  const closing = Object.fromEntries(
    Object.entries(leadOn).map(([name, act]) => [name, (problem) => closeAnd(() => act(problem))]),
  );
  const boxOf = (problem, plan, signal) => {
    const onRemove = (item) => closeAnd(() => onRemovable(item));
    const list = () => removableList({ api, signal, onRemove, missingBytes: missingIn(plan) });
    return problemBox(problem, closing, problem.code === 'no_space' ? [list()] : []);
  };
  const showPlan = (plan, words, signal) => {
    const isNothing = changesNothing(plan);
    const problems = plan.problems.map((problem) => boxOf(problem, plan, signal));
    body.replaceChildren(...bodyOf(plan, problems, words));
    for (const extra of extras) extra.offer(plan);
    setDisabled(yes, !plan.is_possible || isNothing);
    typed.check();
    if (!plan.is_possible) byId('plan-no').focus();
  };
  /** A plan that cannot be had is no reason to forbid what the daemon checks anyway. */
  const showFailure = (error) => {
    const text = t('What this changes cannot be shown: {reason}', { reason: error.message });
    body.replaceChildren(textElement('p', text, 'problem'));
    setDisabled(yes, error.needsLogin === true);
    typed.check();
  };
  const load = async (query, words, signal) => {
    const timer = showWaiting(body);
    try {
      const plan = await api.get('admin/store/plan', query, { signal });
      if (!signal.aborted) showPlan(plan, words, signal);
    } catch (error) {
      if (!signal.aborted) showFailure(error);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    /**
     * @param query parameters of the plan
     * @param words `{ title, yes, nothing, isDangerous?, typed? }`; typed: a name to be typed in
     * @param app whose set-up is offered, if any
     * @returns parameters for the operation beside its own; undefined if the answer was no
     */
    ask: inTurn(async (query, words, app) => {
      const abort = new AbortController();
      setText(byId('plan-title'), words.title);
      setText(yes, words.yes);
      yes.className = words.isDangerous ? 'danger' : 'primary';
      setDisabled(yes, true);
      setUp.show(app);
      typed.start(words.typed);
      let planned = load(query, words, abort.signal);
      purge.start();
      cutOff.start();
      translation.start(() => {
        setDisabled(yes, true);
        planned = load({ ...query, ...translation.parameters() }, words, abort.signal);
      });
      const answer = await askIn(dialog);
      abort.abort();
      await planned;
      next?.();
      next = undefined;
      if (answer !== 'yes') return undefined;
      return Object.assign({}, ...[setUp, ...extras].map((one) => one.parameters(query)));
    }),
  };
}

const ENTER = 13;

/** The first button of the form says no: that is not what Enter in a field means. */
function listenForEnter(dialog, yes) {
  dialog.addEventListener('keydown', (event) => {
    if (event.keyCode !== ENTER || event.target.tagName !== 'INPUT') return;
    event.preventDefault();
    if (event.target.type !== 'checkbox') yes.click();
  });
}

/**
 * A question that comes while another one is open, as of a file that has been sent, waits: one
 * click must not answer both.
 */
function inTurn(ask) {
  let last = Promise.resolve();
  return (...question) => {
    const answer = last.then(() => ask(...question));
    last = answer.catch(() => undefined);
    return answer;
  };
}

function showWaiting(body) {
  const waiting = textElement('p', t('Working out what this changes …'), 'waiting');
  body.replaceChildren(waiting);
  return setTimeout(
    () => setText(waiting, t('The device is taking long to answer. Still waiting …')),
    SLOW_MS,
  );
}

/** Whether an app comes with its translation, where its plan has one. */
function createTranslationSwitch() {
  const box = byId('plan-translation');
  const isWanted = byId('plan-translated');
  return {
    start: (onChange) => {
      box.hidden = true;
      isWanted.checked = true;
      isWanted.onchange = onChange;
    },
    offer: ({ installs }) => {
      if (installs.some(({ reason }) => reason === 'translation')) box.hidden = false;
    },
    parameters: () => (isWanted.checked ? {} : { translations: '0' }),
  };
}

/** Whether the data and images of containers go with them. */
function createPurgeBox() {
  const box = byId('plan-purge');
  const isWanted = byId('plan-purged');
  return {
    start: () => {
      box.hidden = true;
      isWanted.checked = false;
    },
    offer: ({ containers = [], is_possible: isPossible }) => {
      box.hidden = containers.length === 0 || !isPossible;
    },
    parameters: () => (isWanted.checked ? { purge: '1' } : {}),
  };
}

/** What may cut its owner off is confirmed by the page, else it goes back. */
function createCutOff() {
  let isPossible = false;
  return {
    start: () => (isPossible = false),
    offer: ({ restarts }) => (isPossible = restarts !== undefined),
    parameters: ({ operation }) =>
      isPossible && operation !== 'upload' ? { confirm_s: String(CONFIRM_S) } : {},
  };
}

/** A program says nothing of what it changes. */
function changesNothing(plan) {
  const isEnough = plan.file?.kind === 'program' || bringsMore(plan);
  return plan.is_possible && isEmpty(plan) && !isEnough;
}

function bodyOf(plan, problems, words) {
  const hasChanges = isWorthShowing(plan) && (!isEmpty(plan) || bringsMore(plan));
  return [
    ...(plan.is_possible ? leftOut(problems) : [problemList(problems)]),
    ...(plan.file === undefined ? [] : fileIn(plan.file)),
    ...(changesNothing(plan) ? [textElement('p', words.nothing)] : []),
    ...(hasChanges ? contentOf(plan) : []),
    ...(plan.is_possible ? warnings(plan).map((text) => textElement('p', text)) : []),
  ];
}

function warnings({ restarts, kept_in: keptIn, file }) {
  return [
    ...(restarts === undefined || file !== undefined
      ? []
      : [
          t(
            'This may interrupt the network or this page. If the page does not reach the device ' +
              'again within {seconds} s, the change goes back by itself.',
            { seconds: CONFIRM_S },
          ),
        ]),
    ...(keptIn === 'memory'
      ? [t('It can be undone until the device restarts: what it replaced lies in memory.')]
      : []),
  ];
}

/**
 * A plan that is not possible breaks off at what stands against it: what it has until then is no
 * answer, unless that is the space that would be short.
 */
function isWorthShowing(plan) {
  return plan.is_possible || plan.free_after_bytes < 0;
}

function problemList(problems) {
  return element('div', { className: 'problems' }, problems);
}

/** What is possible leaves out what its problems are about. */
function leftOut(problems) {
  if (problems.length === 0) return [];
  return [
    element('details', { className: 'left-out' }, [
      element('summary', {}, [
        t('Left out'),
        ' ',
        textElement('span', String(problems.length), 'count'),
      ]),
      problemList(problems),
    ]),
  ];
}
