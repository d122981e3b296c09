extension FMRest.APIError {
    /// The hint for a URL that is too long. Only a script's parameter can make it that long.
    static let hintAtLength =
        "Web servers take 2,000 to 8,000 characters. runScript sends a .confidential parameter in a body; finds, creates, "
        + "edits and duplicates send the parameters of their scripts there, too."
}
