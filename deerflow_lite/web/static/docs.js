"use strict";
window.SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#swagger",
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
