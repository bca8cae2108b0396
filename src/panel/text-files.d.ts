/**
 * The build turns these files into text: the page's own sources are part of the daemon's one file.
 */
declare module '*.html' {
  const text: string;
  export default text;
}

declare module '*.css' {
  const text: string;
  export default text;
}
