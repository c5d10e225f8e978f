export { build as setup } from "../helpers/programs.js";
