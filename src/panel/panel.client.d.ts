/** The page's script as text: the build bundles panel.client.js with what it imports. */
declare const text: string;
export default text;
