import * as v from 'valibot';
import type { AnswerDocumentation } from '../../../http/openapi/documentation.ts';
import * as answers from './answers.ts';
import * as bodies from './bodies.ts';

/** What is said of an operation that is passed on; nothing of it is checked here. */
export interface ForgeOperation {
  summary: string;
  query?: Readonly<Record<string, v.GenericSchema>>;
  body?: v.GenericSchema;
  /** The good answers by status. */
  answers: Readonly<Record<number, AnswerDocumentation>>;
}

const page = v.optional(v.pipe(v.string(), v.description('1-based; 1 or less means 1')));
const limit = v.optional(v.pipe(v.string(), v.description('entries a page')));
const pages = { page, limit };
const ref = v.optional(v.pipe(v.string(), v.description('branch, tag or commit')));
const flag = v.optional(v.picklist(['true', 'false']));

const REPO = '/repos/{owner}/{repo}';
const PULL = `${REPO}/pulls/{index}`;
const REVIEW = `${PULL}/reviews/{id}`;

/** By method and pattern, as `routes.ts` has them. */
export const OPERATIONS: Readonly<Record<string, ForgeOperation>> = {
  [`GET ${REPO}/raw/{filepath...}`]: file('A file as it is'),
  [`GET ${REPO}/archive/{archive...}`]: file('An archive of a branch, tag or commit'),
  [`GET ${REPO}/editorconfig/{filepath}`]: {
    ...json('What the editor configuration says of a file', answers.editorConfig),
    query: { ref },
  },
  [`GET ${REPO}/contents`]: {
    ...json('What lies in the root', answers.contentsList),
    query: { ref },
  },
  [`GET ${REPO}/contents/{filepath...}`]: {
    ...json('A file with its content, or what lies in a folder', answers.contentsOfPath),
    query: { ref },
  },
  [`POST ${REPO}/contents/{filepath...}`]: {
    ...json('Create a file', answers.fileChange, 201),
    body: bodies.createFile,
  },
  [`PUT ${REPO}/contents/{filepath...}`]: {
    ...json('Change or move a file', answers.fileChange),
    body: bodies.updateFile,
  },
  [`DELETE ${REPO}/contents/{filepath...}`]: {
    ...json('Delete a file', answers.fileChange),
    body: bodies.deleteFile,
  },

  [`POST ${REPO}/wiki/new`]: {
    ...json('Create a wiki page', answers.wikiPage, 201),
    body: bodies.writeWikiPage,
  },
  [`PATCH ${REPO}/wiki/page/{pageName}`]: {
    ...json('Change or rename a wiki page', answers.wikiPage),
    body: bodies.writeWikiPage,
  },
  [`DELETE ${REPO}/wiki/page/{pageName}`]: empty('Delete a wiki page', 204),
  [`GET ${REPO}/wiki/pages`]: { ...json('The wiki pages', answers.wikiPageList), query: pages },
  [`GET ${REPO}/wiki/page/{pageName}`]: json('A wiki page', answers.wikiPage),
  [`GET ${REPO}/wiki/revisions/{pageName?}`]: {
    ...json('The revisions of a wiki page', answers.wikiRevisions),
    query: { page },
  },

  [`GET ${REPO}/pulls`]: {
    ...json('The pull requests', answers.pullList),
    query: {
      state: v.optional(v.picklist(['open', 'closed', 'all'])),
      sort: v.optional(
        v.picklist([
          'oldest',
          'recentupdate',
          'leastupdate',
          'mostcomment',
          'leastcomment',
          'priority',
        ]),
      ),
      milestone: v.optional(v.string()),
      labels: v.optional(v.string()),
      ...pages,
    },
  },
  [`GET ${REPO}/pulls/{index}.{diffType}`]: {
    ...text('A pull request as diff or patch'),
    query: { binary: flag },
  },
  [`GET ${PULL}`]: json('A pull request', answers.pull),
  [`GET ${PULL}/merge`]: empty('Whether it is merged; 404 if not', 204),
  [`GET ${PULL}/commits`]: {
    ...json('Its commits', answers.commitList),
    query: { verification: flag, files: flag, ...pages },
  },
  [`GET ${PULL}/files`]: {
    ...json('The files that it changes', answers.changedFileList),
    query: {
      'skip-to': v.optional(v.string()),
      whitespace: v.optional(v.picklist(['ignore-all', 'ignore-change', 'ignore-eol', 'show-all'])),
      ...pages,
    },
  },
  [`GET ${PULL}/reviews`]: { ...json('Its reviews', answers.reviewList), query: pages },
  [`POST ${REPO}/pulls`]: {
    ...json('Create a pull request', answers.pull, 201),
    body: bodies.createPull,
  },
  [`PATCH ${PULL}`]: {
    ...json('Change a pull request', answers.pull, 201),
    body: bodies.editPull,
  },
  [`POST ${PULL}/merge`]: {
    summary: 'Merge a pull request',
    answers: { ...empty('', 200).answers, 201: { description: 'it will be, when checks succeed' } },
    body: bodies.mergePull,
  },
  [`DELETE ${PULL}/merge`]: empty('Cancel a scheduled merge', 204),
  [`POST ${PULL}/update`]: {
    ...empty('Bring its branch up to date with the base', 200),
    query: { style: v.optional(v.picklist(['merge', 'rebase'])) },
  },
  [`POST ${PULL}/reviews`]: {
    ...json('Create a review', answers.review),
    body: bodies.createReview,
  },
  [`GET ${REVIEW}`]: json('A review', answers.review),
  [`POST ${REVIEW}`]: {
    ...json('Submit a pending review', answers.review),
    body: bodies.submitReview,
  },
  [`DELETE ${REVIEW}`]: empty('Delete a review', 204),
  [`GET ${REVIEW}/comments`]: json("A review's comments", answers.reviewCommentList),
  [`POST ${REVIEW}/dismissals`]: {
    ...json('Dismiss a review', answers.review),
    body: bodies.dismissReview,
  },
  [`POST ${REVIEW}/undismissals`]: json('Undo the dismissal of a review', answers.review),
  [`POST ${PULL}/requested_reviewers`]: {
    ...json('Ask for reviews', answers.reviewList, 201),
    body: bodies.requestReviews,
  },
  [`DELETE ${PULL}/requested_reviewers`]: {
    ...empty('Ask for reviews no longer', 204),
    body: bodies.requestReviews,
  },
  [`GET ${REPO}/pulls/{base}/{head...}`]: json('The pull request of two branches', answers.pull),

  'GET /users/{username}/tokens': {
    ...json("The caller's access tokens, without their values", answers.tokenList),
    query: pages,
  },
  'POST /users/{username}/tokens': {
    ...json('Create an access token', answers.token, 201),
    body: bodies.createToken,
  },
  'DELETE /users/{username}/tokens/{token}': empty('Delete an access token', 204),
  'POST /user/applications/oauth2': {
    ...json('Create an OAuth2 application', answers.application, 201),
    body: bodies.writeApplication,
  },
  'GET /user/applications/oauth2': {
    ...json("The caller's OAuth2 applications", answers.applicationList),
    query: pages,
  },
  'GET /user/applications/oauth2/{id}': json('An OAuth2 application', answers.application),
  'PATCH /user/applications/oauth2/{id}': {
    ...json('Change an OAuth2 application; it gets a new secret', answers.application),
    body: bodies.writeApplication,
  },
  'DELETE /user/applications/oauth2/{id}': empty('Delete an OAuth2 application', 204),
};

function json(summary: string, schema: v.GenericSchema, status = 200): ForgeOperation {
  return { summary, answers: { [status]: { description: "the forge's answer", schema } } };
}

function text(summary: string): ForgeOperation {
  const answer = { description: "the forge's answer", contentType: 'text/plain' };
  return { summary, answers: { 200: answer } };
}

function file(summary: string): ForgeOperation {
  const answer = { description: 'its bytes', contentType: 'application/octet-stream' };
  return { summary, query: { ref }, answers: { 200: answer } };
}

function empty(summary: string, status: number): ForgeOperation {
  return { summary, answers: { [status]: { description: 'done; without a body' } } };
}
