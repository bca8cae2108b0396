import { base64, DATES, walkFiles, type Outcome, type Take } from './walk-files.ts';

export const PASSWORD = 'adminadmin1';

/**
 * Walks through every documented operation, good and bad, in an order in which each finds what it
 * needs.
 * @param take does one step; @param repo an empty repository `root/REPO` with a README on `main`,
 *   to which the user `reviewer` may write
 */
export async function walkOperations(take: Take, repo: string): Promise<void> {
  await walkFiles(take, `/repos/root/${repo}`);
  await walkWiki(take, `/repos/root/${repo}/wiki`);
  const pull = await walkPulls(take, `/repos/root/${repo}`);
  await walkReviews(take, pull);
  await walkMerge(take, pull);
  await walkTokens(take);
  await walkApplications(take);
}

async function walkWiki(take: Take, wiki: string): Promise<void> {
  await take({ method: 'GET', path: `${wiki}/pages` });
  await take({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: '', content_base64: base64('x') },
  });
  await take({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: 'First page', content_base64: base64('one'), message: 'made' },
  });
  await take({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: 'First page', content_base64: base64('one') },
  });
  await take({
    method: 'POST',
    path: `${wiki}/new`,
    body: { title: 'sub/pägé', content_base64: base64('two') },
  });
  await take({ method: 'GET', path: `${wiki}/pages?page=1&limit=2` });
  await take({ method: 'GET', path: `${wiki}/page/First-page` });
  await take({ method: 'GET', path: `${wiki}/page/sub%2Fp%C3%A4g%C3%A9` });
  await take({ method: 'GET', path: `${wiki}/page/absent` });
  await take({ method: 'GET', path: `${wiki}/revisions/First-page?page=1` });
  await take({ method: 'GET', path: `${wiki}/revisions/` });
  await take({
    method: 'PATCH',
    path: `${wiki}/page/First-page`,
    body: { title: 'Second page', content_base64: base64('three') },
  });
  await take({ method: 'PATCH', path: `${wiki}/page/Second-page`, body: { content_base64: '§§' } });
  await take({ method: 'DELETE', path: `${wiki}/page/Second-page` });
  await take({ method: 'DELETE', path: `${wiki}/page/Second-page` });
}

/** @returns the path of an open pull request */
async function walkPulls(take: Take, repo: string): Promise<string> {
  const branch = (name: string, file: string): Promise<Outcome> =>
    take({
      method: 'POST',
      path: `${repo}/contents/${file}`,
      body: { content: base64(`${name}\n`), new_branch: name, dates: DATES },
    });
  await branch('feature', 'feature.txt');
  await branch('target', 'target.txt');
  await take({
    method: 'POST',
    path: `${repo}/pulls`,
    body: { head: 'main', base: 'main', title: 'same' },
  });
  await take({
    method: 'POST',
    path: `${repo}/pulls`,
    body: { head: 'absent', base: 'main', title: 'none' },
  });
  const made = await take({
    method: 'POST',
    path: `${repo}/pulls`,
    body: { head: 'feature', base: 'main', title: 'a feature', body: 'why' },
  });
  await take({
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
  for (const path of paths) await take({ method: 'GET', path: `${pull}${path}` });
  for (const path of [
    '?state=open&sort=oldest&labels=1&labels=2&page=1&limit=1',
    '?state=all&limit=1',
    '/main/feature',
    '/main/absent',
    '/999',
  ]) {
    await take({ method: 'GET', path: `${repo}/pulls${path}` });
  }
  await take({ method: 'PATCH', path: pull, body: { title: 'a better feature', base: 'main' } });
  await take({ method: 'PATCH', path: pull, body: { base: 'absent' } });
  await take({ method: 'PATCH', path: pull, body: { base: 'target' } });
  await take({ method: 'PATCH', path: pull, body: { base: 'main' } });
  await take({ method: 'PATCH', path: pull, body: { state: 'closed' } });
  await take({ method: 'PATCH', path: pull, body: { state: 'open' } });
  await take({ method: 'PATCH', path: pull, body: { title: 'not mine' }, as: 'nobody' });
  await take({ method: 'POST', path: `${pull}/update?style=merge` });
  return pull;
}

async function walkReviews(take: Take, pull: string): Promise<void> {
  const reviews = `${pull}/reviews`;
  await take({
    method: 'POST',
    path: `${pull}/requested_reviewers`,
    body: { reviewers: ['reviewer'] },
  });
  await take({
    method: 'POST',
    path: `${pull}/requested_reviewers`,
    body: { reviewers: ['no-such-user'] },
  });
  await take({
    method: 'DELETE',
    path: `${pull}/requested_reviewers`,
    body: { reviewers: ['reviewer'] },
  });
  await take({ method: 'POST', path: reviews, body: { event: 'APPROVED', body: 'mine' } });
  await take({
    method: 'POST',
    path: reviews,
    body: { event: 'REQUEST_CHANGES', body: '' },
    as: 'reviewer',
  });
  const comments = [{ path: 'feature.txt', body: 'hm', old_position: 0, new_position: 1 }];
  const made = await take({
    method: 'POST',
    path: reviews,
    body: { event: 'PENDING', body: 'soon', comments },
    as: 'reviewer',
  });
  const review = `${reviews}/${String(made.json?.['id'])}`;
  await take({ method: 'GET', path: review, as: 'reviewer' });
  await take({ method: 'GET', path: `${review}/comments`, as: 'reviewer' });
  await take({
    method: 'POST',
    path: review,
    body: { event: 'APPROVED', body: 'good' },
    as: 'reviewer',
  });
  await take({ method: 'POST', path: review, body: { event: 'APPROVED' }, as: 'reviewer' });
  await take({ method: 'GET', path: `${reviews}?page=1&limit=1` });
  await take({ method: 'GET', path: `${reviews}/999999` });
  await take({
    method: 'POST',
    path: `${review}/dismissals`,
    body: { message: 'old', priors: false },
  });
  await take({ method: 'POST', path: `${review}/undismissals` });
  await take({ method: 'DELETE', path: review, as: 'nobody' });
  await take({ method: 'DELETE', path: review, as: 'reviewer' });
  await take({ method: 'DELETE', path: review, as: 'reviewer' });
}

async function walkMerge(take: Take, pull: string): Promise<void> {
  await take({ method: 'DELETE', path: `${pull}/merge` });
  await take({ method: 'POST', path: `${pull}/merge`, body: { Do: 'no-such-style' } });
  await take({
    method: 'POST',
    path: `${pull}/merge`,
    body: { Do: 'merge', head_commit_id: '0000000000000000000000000000000000000000' },
  });
  await take({
    method: 'POST',
    path: `${pull}/merge`,
    body: { Do: 'squash', MergeTitleField: 'merged', delete_branch_after_merge: true },
  });
  await take({ method: 'GET', path: `${pull}/merge` });
  await take({ method: 'POST', path: `${pull}/merge`, body: { Do: 'merge' } });
  await take({ method: 'PATCH', path: pull, body: { state: 'closed' } });
}

async function walkTokens(take: Take): Promise<void> {
  const tokens = '/users/root/tokens';
  const name = 'walk +%/1';
  await take({ method: 'GET', path: tokens });
  await take({ method: 'GET', path: `${tokens}?page=1&limit=1`, as: 'password' });
  await take({
    method: 'POST',
    path: tokens,
    body: { name, scopes: ['read:repository'] },
    as: 'password',
  });
  await take({
    method: 'POST',
    path: tokens,
    body: { name, scopes: ['read:repository'] },
    as: 'password',
  });
  await take({ method: 'DELETE', path: `${tokens}/${encodeURIComponent(name)}`, as: 'password' });
  await take({ method: 'DELETE', path: `${tokens}/${encodeURIComponent(name)}`, as: 'password' });
}

async function walkApplications(take: Take): Promise<void> {
  const applications = '/user/applications/oauth2';
  await take({ method: 'POST', path: applications, body: { redirect_uris: [] } });
  const body = {
    name: 'walk',
    redirect_uris: ['http://127.0.0.1/back'],
    confidential_client: true,
  };
  const made = await take({ method: 'POST', path: applications, body });
  const one = `${applications}/${String(made.json?.['id'])}`;
  await take({ method: 'GET', path: `${applications}?page=1&limit=1` });
  await take({ method: 'GET', path: one });
  await take({ method: 'PATCH', path: one, body: { ...body, name: 'walked' } });
  await take({ method: 'DELETE', path: one });
  await take({ method: 'DELETE', path: one });
  await take({ method: 'GET', path: one });
}
