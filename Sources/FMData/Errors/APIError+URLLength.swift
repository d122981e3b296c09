extension FMRest.APIError {
    /// The hint for a URL that is too long. Only a script's parameter can make it that long.
    static let hintAtLength =
        "Web servers take 2,000 to 8,000 characters. runScript sends a .confidential parameter in a body; finds, creates, "
        + "edits and duplicates send the parameters of their scripts there, too."

    /// Adds that hint when a web server may have refused the URL for its length: some answer only 400 or 404 then.
    ///
    /// - Parameter length: the bytes of path and query; called only when it matters.
    func hintingAtLength(of length: () throws -> Int) -> Self {
        guard code == .notDataAPI, httpStatus == 400 || httpStatus == 404,
            let length = try? length(), length > DataAPIPath.longestTarget
        else { return self }
        var error = self
        error.hint = "The URL has \(length) characters, which may be too many. " + Self.hintAtLength
        return error
    }
}
