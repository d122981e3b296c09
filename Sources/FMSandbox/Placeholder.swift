enum FMSandboxPlaceholder {}
