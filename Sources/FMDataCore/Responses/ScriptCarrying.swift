public import OpenCombine

extension DataAPI {
    /// A response that contains the results of the scripts that ran with its request.
    public protocol ScriptCarrying {
        /// The results of the scripts; `nil` if none ran.
        var scriptResponse: ScriptResponse? { get }
    }
}

extension DataAPI.RecordResponse: DataAPI.ScriptCarrying {}
extension DataAPI.CreateResponse: DataAPI.ScriptCarrying {}
extension DataAPI.EditRecordResponse: DataAPI.ScriptCarrying {}

extension DataAPI.ScriptResponse: DataAPI.ScriptCarrying {
    /// The response itself; `nil` if it is empty.
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
    ///     orders.runScript("Close month")
    ///         .failOnScriptError(except: [.recordMissing])      // an ordinary loop over all records ends with 101
    ///
    /// Publishes the values of this publisher. If a response contains a script that ended with an error, it fails with
    /// ``FMRest/APIError/Code/script``. `fileMakerCode` is the script's code, and `scriptFailure` contains its name,
    /// phase and result; of several scripts, the one that ran first counts. The request itself has been carried out
    /// nevertheless.
    ///
    /// - Parameter accepted: The codes that are not failures. The default is none except 0.
    public func failOnScriptError(
        except accepted: Set<FileMakerErrorCode> = []
    ) -> AnyPublisher<Output, FMRest.APIError> {
        failOnScriptError { !accepted.contains($0.code) }
    }

    /// Turns only these script errors into failures; others stay values. See ``failOnScriptError(except:)``.
    ///
    /// - Parameter codes: The codes that are failures.
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

/// The names of the scripts that a request starts.
package struct ScriptNames: Hashable, Sendable {
    var preRequest: String?
    var preSort: String?
    var afterRequest: String?

    package init(preRequest: String? = nil, preSort: String? = nil, afterRequest: String? = nil) {
        self.preRequest = preRequest
        self.preSort = preSort
        self.afterRequest = afterRequest
    }
}
