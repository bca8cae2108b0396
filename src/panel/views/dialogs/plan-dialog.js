import { byId, element, setText, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { setDisabled } from '../../permission.js';
import { problemBox } from '../../problems.js';
import { askIn } from './confirm.js';
import { changesIn, isEmpty, spaceIn } from './plan-content.js';
import { createSetUp } from './set-up.js';

/** From this on somebody is told that working out a plan takes its time. */
const SLOW_MS = 4000;

/**
 * Asks before packages are changed, with what the change is made of.
 * @param api reads the plan
 * @param leadOn actions of problems by name; the dialog closes before one is done
 */
export function createPlanDialog({ api, leadOn }) {
  const dialog = byId('plan');
  const body = byId('plan-body');
  const yes = byId('plan-yes');
  const setUp = createSetUp();

  const closing = Object.fromEntries(
    Object.entries(leadOn).map(([name, act]) => [
      name,
      () => {
        dialog.close('no');
        act();
      },
    ]),
  );
  const showPlan = (plan, words) => {
    const isNothing = plan.is_possible && isEmpty(plan);
    const problems = plan.problems.map((problem) => problemBox(problem, closing));
    body.replaceChildren(
      ...(plan.is_possible ? leftOut(problems) : [problemList(problems)]),
      ...(isNothing ? [textElement('p', words.nothing)] : spaceIn(plan)),
      ...changesIn(plan),
    );
    setDisabled(yes, !plan.is_possible || isNothing);
    if (!plan.is_possible) byId('plan-no').focus();
  };
  /** A plan that cannot be had is no reason to forbid what the daemon checks anyway. */
  const showFailure = (error) => {
    const text = t('What this changes cannot be shown: {reason}', { reason: error.message });
    body.replaceChildren(textElement('p', text, 'problem'));
    setDisabled(yes, error.needsLogin === true);
  };
  const load = async (query, words, signal) => {
    const waiting = textElement('p', t('Working out what this changes …'), 'waiting');
    body.replaceChildren(waiting);
    const timer = setTimeout(
      () => setText(waiting, t('The device is taking long to answer. Still waiting …')),
      SLOW_MS,
    );
    try {
      const plan = await api.get('admin/store/plan', query, { signal });
      if (!signal.aborted) showPlan(plan, words);
    } catch (error) {
      if (!signal.aborted) showFailure(error);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    /**
     * @param query parameters of the plan
     * @param words `{ title, yes, nothing, isDangerous? }`
     * @param app whose set-up is offered, if any
     * @returns parameters for the operation beside its own; undefined if the answer was no
     */
    ask: async (query, words, app) => {
      const abort = new AbortController();
      setText(byId('plan-title'), words.title);
      setText(yes, words.yes);
      yes.className = words.isDangerous ? 'danger' : 'primary';
      setDisabled(yes, true);
      setUp.show(app);
      const planned = load(query, words, abort.signal);
      const answer = await askIn(dialog);
      abort.abort();
      await planned;
      return answer === 'yes' ? setUp.parameters() : undefined;
    },
  };
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
