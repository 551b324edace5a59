"use strict";
// The pictures of this page are drawn already and take their colours from the theme: nothing is redrawn.
const figures = { redrawAll() {} };
