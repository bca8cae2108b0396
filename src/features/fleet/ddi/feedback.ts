/** What a device says of an action; docs/reference/ddi.md has the words and the limits. */
export interface Feedback {
  execution: 'download' | 'downloaded' | 'proceeding' | 'scheduled' | 'rejected' | 'closed';
  /** How the action has ended; default: not yet. */
  finished?: 'success' | 'failure';
  code?: number | undefined;
  details?: readonly string[];
}

/** hawkBit takes 50 details, of which `code` counts as one; beyond that all of it is refused. */
const MOST_DETAILS = 45;
/** hawkBit splits a detail of more than 512 characters, and counts it as several. */
const MOST_DETAIL_CHARACTERS = 500;

/** No timestamp: with one in the past hawkBit ends the action, and leaves the device pending. */
export function feedbackBody(
  id: string,
  { execution, finished, code, details = [] }: Feedback,
): object {
  return {
    id,
    status: {
      execution,
      result: { finished: finished ?? 'none' },
      code,
      details: details.slice(-MOST_DETAILS).map(safeDetail),
    },
  };
}

/** The body of the owner's answer to a request for confirmation. */
export function confirmationBody(isConfirmed: boolean, details: readonly string[]): object {
  return {
    confirmation: isConfirmed ? 'confirmed' : 'denied',
    code: isConfirmed ? 1 : -1,
    details: details.slice(-MOST_DETAILS).map(safeDetail),
  };
}

/** What looks like a tag of HTML, such as opkg's `<new>`, loses the whole feedback: 400. */
function safeDetail(text: string): string {
  const plain = text
    .replace(/\p{C}+/gu, ' ')
    .replaceAll('<', '[')
    .replaceAll('>', ']');
  // Half a character at the cut would be no text.
  return plain
    .trim()
    .slice(0, MOST_DETAIL_CHARACTERS)
    .replace(/[\uD800-\uDBFF]$/, '');
}
