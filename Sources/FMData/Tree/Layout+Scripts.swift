public import OpenCombine

extension DataAPI.Layout {
    /// Runs a script with this layout as its context.
    ///
    /// Publishes the script's result and error, then finishes. The error is a value: a script that ends with a code of its
    /// own has still run. Nothing is sent before demand; each subscription runs the script; cancelling ends the exchange,
    /// but a script that has begun runs on.
    ///
    /// The parameter travels in the URL, where logs can see it: keep secrets and more than about 1,000 characters out.
    /// Fails with FileMaker code 104 when there is no such script.
    ///
    /// Source: Claris Data API guide, "Run a script", `GET …/script/{script}`. FileMaker Server 18 and later.
    public func executeScript(
        script: String,
        scriptParam: String? = nil
    ) -> AnyPublisher<DataAPI.ScriptResponse, FMRest.APIError> {
        database.perform { .run(script: script, parameter: scriptParam, in: self) }
    }
}
