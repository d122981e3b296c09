import HTTPTypes
import Hummingbird

/// Tells visitors the id under which their request is in the log.
struct RequestIds: RouterMiddleware {
    private static let header = HTTPField.Name("X-Request-Id")

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as any HTTPResponseError {
            response = try error.response(from: request, context: context)
        }
        if let header = Self.header { response.headers[header] = context.id }
        return response
    }
}
