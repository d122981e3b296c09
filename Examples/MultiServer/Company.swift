import FMData
import OpenCombine

/// The model layer: several servers with several databases each, used like one.
struct Company {
    let branches: [Branch]

    /// Files each of these contacts at every branch, at all branches at the same time.
    func file(_ contacts: [Contact]) -> AnyPublisher<BranchContact, FMRest.APIError> {
        merge { branch in
            contacts.publisher
                .setFailureType(to: FMRest.APIError.self)
                .flatMap(maxPublishers: .max(4)) { branch.file($0) }
                .eraseToAnyPublisher()
        }
    }

    /// The contacts of all branches as one stream, in the order in which they arrive.
    func allContacts() -> AnyPublisher<BranchContact, FMRest.APIError> {
        merge { $0.allContacts() }
    }

    /// Merges one stream for each branch: it ends when all have ended, or with the first failure.
    private func merge(
        _ stream: @escaping (Branch) -> AnyPublisher<BranchContact, FMRest.APIError>
    ) -> AnyPublisher<BranchContact, FMRest.APIError> {
        branches.publisher
            .setFailureType(to: FMRest.APIError.self)
            .flatMap { stream($0) }
            .eraseToAnyPublisher()
    }
}
