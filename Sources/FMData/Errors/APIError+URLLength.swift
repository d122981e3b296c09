extension FMRest.APIError {
    /// What to do about a URL that is too long. Only the parameter of a script can make it so long.
    static let hintAtLength =
        "Web servers take 2,000 to 8,000 characters. executeScript sends a .confidential parameter in a body; finds, creates, "
        + "edits and duplicates send the parameters of their scripts there, too."

    /// The error with that hint, when the URL may be what a web server has refused: some say so by a bare 400 or 404.
    ///
    /// - Parameter length: of path and query, in bytes; asked for when it matters.
    func hintingAtLength(of length: () throws -> Int) -> Self {
        guard code == .notDataAPI, httpStatus == 400 || httpStatus == 404,
            let length = try? length(), length > DataAPIPath.longestTarget
        else { return self }
        var error = self
        error.hint = "The URL has \(length) characters, which may be too many. " + Self.hintAtLength
        return error
    }
}
