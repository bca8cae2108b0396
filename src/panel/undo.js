import { Refused } from './api.js';
import { button } from './dom.js';
import { t } from './i18n.js';

/** Services start again a moment after the task has ended. */
const FIRST_TRY_S = 10;
const NEXT_TRY_S = 5;
/** What a change that may cut its owner off is asked with, in seconds. */
export const CONFIRM_S = 120;
const STORED = 'depotd-to-confirm';

/** Right after a removal or an upgrade. */
export function offerUndo(notices, { task, title, undo }) {
  if (task.can_undo !== true || !['remove', 'upgrade'].includes(task.kind)) return;
  const onclick = () => {
    notices.hide('undo');
    void undo(task);
  };
  const action = button({ text: t('Undo'), className: 'quiet', onclick, isWrite: true });
  notices.show({ topic: 'undo', tone: 'good', text: t('{task}: done', { task: title }), action });
}

/**
 * Confirms what this page has asked for, once it reaches the device again; a page that was loaded
 * again meanwhile, too. What it cannot confirm goes back by itself.
 * @param titleOf what people call a task
 */
export function createConfirming({ api, notices, tasks, titleOf }) {
  const expected = new Set(JSON.parse(sessionStorage.getItem(STORED) ?? '[]'));
  const store = () => sessionStorage.setItem(STORED, JSON.stringify([...expected]));
  const show = (tone, text) => notices.show({ topic: 'confirm', tone, text });

  const confirm = async (task) => {
    try {
      await api.post('admin/store/confirm', { task_id: task.id });
      show('good', t('{task}: the device is in reach, and the change stays.', task));
      return true;
    } catch (error) {
      return error instanceof Refused && !error.needsLogin;
    }
  };
  const watch = async (task) => {
    for (let age = 0; age < CONFIRM_S; age += 1) {
      const left = CONFIRM_S - age;
      show('', t('{task}: goes back in {left} s if it cuts off this page.', { ...task, left }));
      await pause(1000);
      if (age < FIRST_TRY_S || age % NEXT_TRY_S !== 0) continue;
      if (await Promise.race([confirm(task), pause(1000)])) return;
    }
    notices.hide('confirm');
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
        if (task === undefined || task.running) continue;
        expected.delete(id);
        store();
        if (task.confirm_by !== undefined) void watch({ id, task: titleOf(task) });
      }
    },
  };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
