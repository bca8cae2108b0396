import * as v from 'valibot';

/** Bodies that the forge accepts, as its writers may fill them; what else it knows passes, too. */

const text = v.optional(v.string());
const flag = v.optional(v.boolean());
const count = v.optional(v.pipe(v.number(), v.integer()));
const numbers = v.optional(v.array(v.pipe(v.number(), v.integer())));
const texts = v.optional(v.array(v.string()));
const time = v.optional(v.pipe(v.string(), v.description('RFC 3339')));

function described(description: string): v.OptionalSchema<v.GenericSchema<string>, undefined> {
  return v.optional(v.pipe(v.string(), v.description(description)));
}

const identity = v.optional(v.looseObject({ name: text, email: text }));

const commitFields = {
  message: described('default: one that names the file'),
  branch: described("default: the repository's default branch"),
  new_branch: described('to commit to a branch of its own'),
  author: identity,
  committer: identity,
  dates: v.optional(v.looseObject({ author: time, committer: time })),
};
const base64 = v.pipe(v.string(), v.description('base64'));

export const createFile = v.pipe(
  v.looseObject({ content: base64, ...commitFields }),
  v.title('ForgeFileCreation'),
);
export const updateFile = v.pipe(
  v.looseObject({
    content: base64,
    ...commitFields,
    sha: v.pipe(v.string(), v.description('of the file as it is')),
    from_path: described('the path that it had before'),
  }),
  v.title('ForgeFileUpdate'),
);
export const deleteFile = v.pipe(
  v.looseObject({
    ...commitFields,
    sha: v.pipe(v.string(), v.description('of the file as it is')),
  }),
  v.title('ForgeFileDeletion'),
);

export const writeWikiPage = v.pipe(
  v.looseObject({ title: text, content_base64: text, message: text }),
  v.title('ForgeWikiPageChange'),
);

const pullFields = {
  title: text,
  body: text,
  assignee: text,
  assignees: texts,
  milestone: count,
  labels: numbers,
  due_date: time,
};
export const createPull = v.pipe(
  v.looseObject({
    head: v.pipe(v.string(), v.description('branch, or user:branch')),
    base: v.string(),
    ...pullFields,
  }),
  v.title('ForgePullRequestCreation'),
);
export const editPull = v.pipe(
  v.looseObject({
    ...pullFields,
    base: text,
    state: v.optional(v.picklist(['open', 'closed'])),
    unset_due_date: flag,
    allow_maintainer_edit: flag,
  }),
  v.title('ForgePullRequestChange'),
);
export const mergePull = v.pipe(
  v.looseObject({
    Do: described('how: merge, rebase, rebase-merge, squash, fast-forward-only, manually-merged'),
    MergeTitleField: text,
    MergeMessageField: text,
    MergeCommitID: text,
    head_commit_id: text,
    force_merge: flag,
    merge_when_checks_succeed: flag,
    delete_branch_after_merge: flag,
  }),
  v.title('ForgeMerge'),
);

const reviewEvent = described('APPROVED, REQUEST_CHANGES or COMMENT; anything else: pending');
export const createReview = v.pipe(
  v.looseObject({
    event: reviewEvent,
    body: text,
    commit_id: text,
    comments: v.optional(
      v.array(v.looseObject({ path: text, body: text, old_position: count, new_position: count })),
    ),
  }),
  v.title('ForgeReviewCreation'),
);
export const submitReview = v.pipe(
  v.looseObject({ event: reviewEvent, body: text }),
  v.title('ForgeReviewSubmission'),
);
export const dismissReview = v.pipe(
  v.looseObject({ message: text, priors: flag }),
  v.title('ForgeReviewDismissal'),
);
export const requestReviews = v.pipe(
  v.looseObject({ reviewers: texts, team_reviewers: texts }),
  v.title('ForgeReviewRequest'),
);

export const createToken = v.pipe(
  v.looseObject({ name: v.string(), scopes: texts }),
  v.title('ForgeTokenCreation'),
);
export const writeApplication = v.pipe(
  v.looseObject({ name: v.string(), redirect_uris: texts, confidential_client: flag }),
  v.title('ForgeApplicationChange'),
);
