import { base64, DATES, walkFiles, type Outcome, type Perform } from './walk-files.ts';

export const PASSWORD = 'adminadmin1';

/**
 * Walks through every documented operation, good and bad, in an order in which each finds what it
 * needs.
 * @param perform does one step; @param repo an empty repository `root/REPO` with a README on `main`,
 *   to which the user `reviewer` may write
 */
export async function walkOperations(perform: Perform, repo: string): Promise<void> {
  await walkFiles(perform, `/repos/root/${repo}`);
  await walkWiki(perform, `/repos/root/${repo}/wiki`);
  const pull = await walkPulls(perform, `/repos/root/${repo}`);
  await walkReviews(perform, pull);
  await walkMerge(perform, pull);
  await walkTokens(perform);
  await walkApplications(perform);
}

async function walkWiki(perform: Perform, wiki: string): Promise<void> {
  await perform({ method: 'GET', path: `${wiki}/pages` });
  await perform({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: '', content_base64: base64('x') },
  });
  await perform({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: 'First page', content_base64: base64('one'), message: 'made' },
  });
  await perform({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: 'First page', content_base64: base64('one') },
  });
  await perform({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: 'sub/pägé', content_base64: base64('two') },
  });
  await perform({ method: 'GET', path: `${wiki}/pages?page=1&limit=2` });
  await perform({ method: 'GET', path: `${wiki}/page/First-page` });
  await perform({ method: 'GET', path: `${wiki}/page/sub%2Fp%C3%A4g%C3%A9` });
  await perform({ method: 'GET', path: `${wiki}/page/absent` });
  await perform({ method: 'GET', path: `${wiki}/revisions/First-page?page=1` });
  await perform({ method: 'GET', path: `${wiki}/revisions/` });
  await perform({
    method: 'PATCH',
    path: `${wiki}/page/First-page`,
    body: { title: 'Second page', content_base64: base64('three') },
  });
  await perform({
    method: 'PATCH',
    path: `${wiki}/page/Second-page`,
    body: { content_base64: '§§' },
  });
  await perform({ method: 'DELETE', path: `${wiki}/page/Second-page` });
  await perform({ method: 'DELETE', path: `${wiki}/page/Second-page` });
}

/** @returns the path of an open pull request */
async function walkPulls(perform: Perform, repo: string): Promise<string> {
  const branch = (name: string, file: string): Promise<Outcome> =>
    perform({
      method: 'POST',
      path: `${repo}/contents/${file}`,
      body: { content: base64(`${name}\n`), new_branch: name, dates: DATES },
    });
  await branch('feature', 'feature.txt');
  await branch('target', 'target.txt');
  await perform({
    method: 'POST',
    path: `${repo}/pulls`,
    body: { head: 'main', base: 'main', title: 'same' },
  });
  await perform({
    method: 'POST',
    path: `${repo}/pulls`,
    body: { head: 'absent', base: 'main', title: 'none' },
  });
  const made = await perform({
    method: 'POST',
    path: `${repo}/pulls`,
    body: { head: 'feature', base: 'main', title: 'a feature', body: 'why' },
  });
  await perform({
    method: 'POST',
    path: `${repo}/pulls`,
    body: { head: 'feature', base: 'main', title: 'again' },
  });
  const pull = `${repo}/pulls/${String(made.json?.['number'])}`;
  const paths = [
    '',
    '.diff',
    '.patch?binary=true',
    '/merge',
    '/commits?page=1&limit=1',
    '/commits?verification=false&files=false',
    '/files',
    '/files?whitespace=ignore-all&limit=1',
  ];
  for (const path of paths) await perform({ method: 'GET', path: `${pull}${path}` });
  for (const path of [
    '?state=open&sort=oldest&labels=1&labels=2&page=1&limit=1',
    '?state=all&limit=1',
    '/main/feature',
    '/main/absent',
    '/999',
  ]) {
    await perform({ method: 'GET', path: `${repo}/pulls${path}` });
  }
  await perform({ method: 'PATCH', path: pull, body: { title: 'a better feature', base: 'main' } });
  await perform({ method: 'PATCH', path: pull, body: { base: 'absent' } });
  await perform({ method: 'PATCH', path: pull, body: { base: 'target' } });
  await perform({ method: 'PATCH', path: pull, body: { base: 'main' } });
  await perform({ method: 'PATCH', path: pull, body: { state: 'closed' } });
  await perform({ method: 'PATCH', path: pull, body: { state: 'open' } });
  await perform({ method: 'PATCH', path: pull, body: { title: 'not mine' }, as: 'nobody' });
  await perform({ method: 'POST', path: `${pull}/update?style=merge` });
  return pull;
}

async function walkReviews(perform: Perform, pull: string): Promise<void> {
  const reviews = `${pull}/reviews`;
  await perform({
    method: 'POST',
    path: `${pull}/requested_reviewers`,
    body: { reviewers: ['reviewer'] },
  });
  await perform({
    method: 'POST',
    path: `${pull}/requested_reviewers`,
    body: { reviewers: ['no-such-user'] },
  });
  await perform({
    method: 'DELETE',
    path: `${pull}/requested_reviewers`,
    body: { reviewers: ['reviewer'] },
  });
  await perform({ method: 'POST', path: reviews, body: { event: 'APPROVED', body: 'mine' } });
  await perform({
    method: 'POST',
    path: reviews,
    body: { event: 'REQUEST_CHANGES', body: '' },
    as: 'reviewer',
  });
  const comments = [{ path: 'feature.txt', body: 'hm', old_position: 0, new_position: 1 }];
  const made = await perform({
    method: 'POST',
    path: reviews,
    body: { event: 'PENDING', body: 'soon', comments },
    as: 'reviewer',
  });
  const review = `${reviews}/${String(made.json?.['id'])}`;
  await perform({ method: 'GET', path: review, as: 'reviewer' });
  await perform({ method: 'GET', path: `${review}/comments`, as: 'reviewer' });
  await perform({
    method: 'POST',
    path: review,
    body: { event: 'APPROVED', body: 'good' },
    as: 'reviewer',
  });
  await perform({ method: 'POST', path: review, body: { event: 'APPROVED' }, as: 'reviewer' });
  await perform({ method: 'GET', path: `${reviews}?page=1&limit=1` });
  await perform({ method: 'GET', path: `${reviews}/999999` });
  await perform({
    method: 'POST',
    path: `${review}/dismissals`,
    body: { message: 'old', priors: false },
  });
  await perform({ method: 'POST', path: `${review}/undismissals` });
  await perform({ method: 'DELETE', path: review, as: 'nobody' });
  await perform({ method: 'DELETE', path: review, as: 'reviewer' });
  await perform({ method: 'DELETE', path: review, as: 'reviewer' });
}

async function walkMerge(perform: Perform, pull: string): Promise<void> {
  await perform({ method: 'DELETE', path: `${pull}/merge` });
  await perform({ method: 'POST', path: `${pull}/merge`, body: { Do: 'no-such-style' } });
  await perform({
    method: 'POST',
    path: `${pull}/merge`,
    body: { Do: 'merge', head_commit_id: '0000000000000000000000000000000000000000' },
  });
  await perform({
    method: 'POST',
    path: `${pull}/merge`,
    body: { Do: 'squash', MergeTitleField: 'merged', delete_branch_after_merge: true },
  });
  await perform({ method: 'GET', path: `${pull}/merge` });
  await perform({ method: 'POST', path: `${pull}/merge`, body: { Do: 'merge' } });
  await perform({ method: 'PATCH', path: pull, body: { state: 'closed' } });
}

async function walkTokens(perform: Perform): Promise<void> {
  const tokens = '/users/root/tokens';
  const name = 'walk +%/1';
  await perform({ method: 'GET', path: tokens });
  await perform({ method: 'GET', path: `${tokens}?page=1&limit=1`, as: 'password' });
  await perform({
    method: 'POST',
    path: tokens,
    body: { name, scopes: ['read:repository'] },
    as: 'password',
  });
  await perform({
    method: 'POST',
    path: tokens,
    body: { name, scopes: ['read:repository'] },
    as: 'password',
  });
  await perform({
    method: 'DELETE',
    path: `${tokens}/${encodeURIComponent(name)}`,
    as: 'password',
  });
  await perform({
    method: 'DELETE',
    path: `${tokens}/${encodeURIComponent(name)}`,
    as: 'password',
  });
}

async function walkApplications(perform: Perform): Promise<void> {
  const applications = '/user/applications/oauth2';
  await perform({ method: 'POST', path: applications, body: { redirect_uris: [] } });
  const body = {
    name: 'walk',
    redirect_uris: ['http://127.0.0.1/back'],
    confidential_client: true,
  };
  const made = await perform({ method: 'POST', path: applications, body });
  const one = `${applications}/${String(made.json?.['id'])}`;
  await perform({ method: 'GET', path: `${applications}?page=1&limit=1` });
  await perform({ method: 'GET', path: one });
  await perform({ method: 'PATCH', path: one, body: { ...body, name: 'walked' } });
  await perform({ method: 'DELETE', path: one });
  await perform({ method: 'DELETE', path: one });
  await perform({ method: 'GET', path: one });
}
