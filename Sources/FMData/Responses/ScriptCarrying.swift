public import OpenCombine

extension DataAPI {
    /// A response that tells of scripts which ran with its request.
    public protocol ScriptCarrying {
        /// What they gave back; `nil` when none ran.
        var scriptResponse: ScriptResponse? { get }
    }
}

extension DataAPI.RecordResponse: DataAPI.ScriptCarrying {}
extension DataAPI.CreateResponse: DataAPI.ScriptCarrying {}
extension DataAPI.EditRecordResponse: DataAPI.ScriptCarrying {}

extension DataAPI.ScriptResponse: DataAPI.ScriptCarrying {
    /// The response itself.
    public var scriptResponse: DataAPI.ScriptResponse? { isEmpty ? nil : self }
}

extension DataAPI.ScriptResponse {
    /// The scripts that ended with an error other than 0, in the order in which they ran.
    public var failures: [DataAPI.ScriptFailure] {
        DataAPI.ScriptPhase.allCases.compactMap { phase in
            let (script, error, result) = outcome(of: phase)
            guard let error else { return nil }
            let code = FileMakerErrorCode(wireText: error) ?? .unknown
            return code == .ok ? nil : DataAPI.ScriptFailure(script: script, phase: phase, code: code, result: result)
        }
    }

    private func outcome(of phase: DataAPI.ScriptPhase) -> (script: String?, error: String?, result: String?) {
        switch phase {
        case .preRequest: (scriptNamePreRequest, scriptErrorPreRequest, scriptResultPreRequest)
        case .preSort: (scriptNamePreSort, scriptErrorPreSort, scriptResultPreSort)
        case .afterRequest: (scriptName, scriptError, scriptResult)
        }
    }
}

extension Publisher where Output: DataAPI.ScriptCarrying, Failure == FMRest.APIError {
    /// Turns script errors, which are values, into failures.
    ///
    ///     orders.executeScript(script: "Close month")
    ///         .failOnScriptError(except: [.recordMissing])      // an ordinary loop over all records ends with 101
    ///
    /// Publishes what the publisher publishes, until a response tells of a script that ended with an error: then it fails
    /// with ``FMRest/APIError/Code/script``. `fileMakerCode` is the script's code and `scriptFailure` has its name, phase
    /// and result; of several scripts the one that ran first counts. The request itself has been carried out all the same.
    ///
    /// - Parameter accepted: codes that are no failure. The default is none but 0.
    public func failOnScriptError(
        except accepted: Set<FileMakerErrorCode> = []
    ) -> AnyPublisher<Output, FMRest.APIError> {
        failOnScriptError { !accepted.contains($0.code) }
    }

    /// Turns these script errors into failures and leaves all others values. See ``failOnScriptError(except:)``.
    public func failOnScriptError(
        only codes: Set<FileMakerErrorCode>
    ) -> AnyPublisher<Output, FMRest.APIError> {
        failOnScriptError { codes.contains($0.code) }
    }

    private func failOnScriptError(
        where counts: @escaping (DataAPI.ScriptFailure) -> Bool
    ) -> AnyPublisher<Output, FMRest.APIError> {
        tryMap { response in
            if let failure = response.scriptResponse?.failures.first(where: counts) {
                throw FMRest.APIError(failure)
            }
            return response
        }
        .mapError(FMRest.APIError.init(wrapping:))
        .eraseToAnyPublisher()
    }
}
