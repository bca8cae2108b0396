import { Refused } from './api.js';
import { button, element, setText } from './dom.js';
import { t } from './i18n.js';

/** Services start again a moment after the task has ended. */
const FIRST_TRY_S = 10;
const NEXT_TRY_S = 5;
/** What a change that may cut its owner off is asked with, in seconds. */
export const CONFIRM_S = 120;
const STORED = 'depotd-to-confirm';

/**
 * What a task that has ended asks its owner for.
 * @returns `{ offer, expect, check }`: `check` looks at what has changed since
 */
export function createAftermath({ undo, ...tools }) {
  const [offering, confirming] = [createUndoOffer({ ...tools, undo }), createConfirming(tools)];
  return {
    offer: offering.offer,
    expect: confirming.expect,
    check: () => {
      offering.check();
      confirming.check();
    },
  };
}

/** Offers undo right after a removal or an upgrade, for as long as it is possible. */
function createUndoOffer({ notices, tasks, undo }) {
  let offered;
  return {
    offer: (task) => {
      if (task.can_undo !== true || !['remove', 'upgrade'].includes(task.kind)) return;
      offered = task.id;
      const onclick = () => void undo(task);
      const action = button({ text: t('Undo'), className: 'quiet', onclick, isWrite: true });
      const text = t('{task}: done', { task: task.title });
      notices.show({ topic: 'undo', tone: 'good', text, action });
    },
    /** Looks at what has changed since. */
    check: () => {
      if (offered === undefined || tasks.get(offered)?.can_undo === true) return;
      offered = undefined;
      notices.hide('undo');
    },
  };
}

/**
 * Confirms what this page has asked for, once it reaches the device again; a page that was loaded
 * again meanwhile, too. What it cannot confirm goes back by itself.
 * @param apps know what people call a task
 */
function createConfirming({ api, notices, tasks, apps }) {
  const expected = new Set(JSON.parse(sessionStorage.getItem(STORED) ?? '[]'));
  const watched = new Set();
  const store = () => sessionStorage.setItem(STORED, JSON.stringify([...expected]));
  const show = (tone, text) => notices.show({ topic: 'confirm', tone, text });
  const sayBack = (task) =>
    show('warn', t('{task}: this page did not reach the device in time, so it goes back.', task));

  /** @returns whether that is decided */
  const confirm = async (task) => {
    try {
      await api.post('admin/store/confirm', { task_id: task.id });
      tasks.merge(task.id, { confirm_by: undefined });
      show('good', t('{task}: the device is in reach, and the change stays.', task));
      return true;
    } catch (error) {
      if (!(error instanceof Refused) || error.needsLogin) return false;
      const status = await api
        .get('admin/system/tasks/status', { task_id: task.id })
        .catch(() => ({}));
      // Somebody else has confirmed the change.
      if (status.can_undo === true) notices.hide('confirm');
      else sayBack(task);
      return true;
    }
  };
  const watch = async (task) => {
    const line = element('span', { role: 'timer' });
    show('busy', line);
    for (let left = task.seconds; left > 0; left -= 1) {
      setText(
        line,
        t(
          '{task}: checking that this page still reaches the device. If not, the change goes ' +
            'back by itself in {left} s.',
          { ...task, left },
        ),
      );
      await pause(1000);
      const age = task.seconds - left;
      if (age < FIRST_TRY_S || age % NEXT_TRY_S !== 0) continue;
      if (await Promise.race([confirm(task), pause(1000)])) return;
    }
    sayBack(task);
  };
  const finish = (id) => {
    expected.delete(id);
    store();
  };
  return {
    expect: (id) => {
      expected.add(id);
      store();
    },
    /** Looks at what has ended. */
    check: () => {
      for (const id of expected) {
        const task = tasks.get(id);
        if (task === undefined || task.running || watched.has(id)) continue;
        if (task.confirm_by === undefined) finish(id);
        else {
          watched.add(id);
          void watch({ id, task: apps.titleOfTask(task), seconds: secondsLeft(task) }).then(() =>
            finish(id),
          );
        }
      }
    },
  };
}

/** The clock of the device may be another than the browser's. */
function secondsLeft({ confirm_by: by }) {
  const left = Math.round(by - Date.now() / 1000);
  return left > 0 && left < CONFIRM_S ? left : CONFIRM_S;
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
