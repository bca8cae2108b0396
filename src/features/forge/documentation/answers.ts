import * as v from 'valibot';

/**
 * Bodies that the forge answers with. Only what its clients use is named; forges of other versions
 * add members, and leave empty ones out or send null.
 */

const text = v.string();
const maybeText = v.nullish(v.string());
const count = v.pipe(v.number(), v.integer());
const maybeCount = v.nullish(count);
const time = v.pipe(v.string(), v.description('RFC 3339'));
const maybeTime = v.nullish(time);
const flag = v.boolean();
const maybeFlag = v.nullish(flag);

export const user = v.pipe(
  v.looseObject({ id: count, login: text, full_name: maybeText, avatar_url: maybeText }),
  v.title('ForgeUser'),
);
const maybeUser = v.nullish(user);

const commitUser = v.looseObject({ name: maybeText, email: maybeText, date: maybeText });

export const contents = v.pipe(
  v.looseObject({
    name: text,
    path: text,
    sha: text,
    type: v.picklist(['file', 'dir', 'symlink', 'submodule']),
    size: count,
    encoding: v.nullish(v.pipe(text, v.description('base64 if there is content'))),
    content: v.nullish(v.pipe(text, v.description('null in lists'))),
    target: v.nullish(v.pipe(text, v.description('of a symbolic link'))),
    last_commit_sha: maybeText,
    url: maybeText,
    html_url: maybeText,
    download_url: maybeText,
    submodule_git_url: maybeText,
  }),
  v.title('ForgeContents'),
);
export const contentsList = v.array(contents);
/** Of a path: a file's, a link's, a submodule's, or the list of a folder. */
export const contentsOfPath = v.union([contents, contentsList]);

const fileCommit = v.looseObject({
  sha: text,
  message: maybeText,
  html_url: maybeText,
  author: v.nullish(commitUser),
  committer: v.nullish(commitUser),
});
export const fileChange = v.pipe(
  v.looseObject({ content: v.nullish(contents), commit: fileCommit }),
  v.title('ForgeFileChange'),
);

export const editorConfig = v.record(v.string(), v.unknown());

const wikiCommit = v.looseObject({
  sha: text,
  message: maybeText,
  author: v.nullish(commitUser),
  commiter: v.nullish(commitUser),
});
const wikiFields = { title: text, html_url: maybeText, sub_url: text, last_commit: wikiCommit };
export const wikiPageList = v.array(
  v.pipe(v.looseObject(wikiFields), v.title('ForgeWikiPageSummary')),
);
export const wikiPage = v.pipe(
  v.looseObject({
    ...wikiFields,
    content_base64: v.pipe(text, v.description('empty if the page is too large')),
    commit_count: count,
    sidebar: text,
    footer: text,
  }),
  v.title('ForgeWikiPage'),
);
export const wikiRevisions = v.pipe(
  v.looseObject({ commits: v.nullish(v.array(wikiCommit)), count }),
  v.title('ForgeWikiRevisions'),
);

const branch = v.looseObject({ label: text, ref: text, sha: text, repo_id: maybeCount });
export const pull = v.pipe(
  v.looseObject({
    id: count,
    number: count,
    title: text,
    body: maybeText,
    state: v.picklist(['open', 'closed']),
    draft: maybeFlag,
    user: maybeUser,
    labels: v.nullish(v.array(v.looseObject({ id: count, name: text }))),
    assignees: v.nullish(v.array(user)),
    requested_reviewers: v.nullish(v.array(user)),
    mergeable: maybeFlag,
    merged: flag,
    merged_at: maybeTime,
    merge_commit_sha: maybeText,
    base: branch,
    head: branch,
    merge_base: maybeText,
    html_url: maybeText,
    due_date: maybeTime,
    created_at: maybeTime,
    updated_at: maybeTime,
    closed_at: maybeTime,
  }),
  v.title('ForgePullRequest'),
);
export const pullList = v.array(pull);

export const commitList = v.array(
  v.pipe(
    v.looseObject({
      sha: text,
      created: maybeTime,
      html_url: maybeText,
      commit: v.looseObject({ message: text, author: v.nullish(commitUser) }),
      author: maybeUser,
      committer: maybeUser,
      parents: v.nullish(v.array(v.looseObject({ sha: text }))),
    }),
    v.title('ForgeCommit'),
  ),
);
export const changedFileList = v.array(
  v.pipe(
    v.looseObject({
      filename: text,
      previous_filename: maybeText,
      status: text,
      additions: count,
      deletions: count,
      changes: count,
      html_url: maybeText,
      contents_url: maybeText,
      raw_url: maybeText,
    }),
    v.title('ForgeChangedFile'),
  ),
);

export const review = v.pipe(
  v.looseObject({
    id: count,
    user: maybeUser,
    state: text,
    body: maybeText,
    commit_id: maybeText,
    stale: maybeFlag,
    official: maybeFlag,
    dismissed: maybeFlag,
    comments_count: maybeCount,
    submitted_at: maybeTime,
    html_url: maybeText,
  }),
  v.title('ForgeReview'),
);
export const reviewList = v.array(review);
export const reviewCommentList = v.array(
  v.pipe(
    v.looseObject({
      id: count,
      body: text,
      user: maybeUser,
      pull_request_review_id: count,
      path: text,
      commit_id: maybeText,
      diff_hunk: maybeText,
      position: maybeCount,
      original_position: maybeCount,
      created_at: maybeTime,
    }),
    v.title('ForgeReviewComment'),
  ),
);

export const token = v.pipe(
  v.looseObject({
    id: count,
    name: text,
    sha1: v.pipe(text, v.description('the token itself, once: when it is made; else empty')),
    token_last_eight: text,
    scopes: v.nullish(v.array(text)),
  }),
  v.title('ForgeToken'),
);
export const tokenList = v.array(token);
export const application = v.pipe(
  v.looseObject({
    id: count,
    name: text,
    client_id: text,
    client_secret: v.pipe(text, v.description('when it is made or changed; else empty')),
    confidential_client: maybeFlag,
    redirect_uris: v.nullish(v.array(text)),
    created: maybeTime,
  }),
  v.title('ForgeApplication'),
);
export const applicationList = v.array(application);
