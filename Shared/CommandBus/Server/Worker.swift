/// A task that handles a server's requests, one after another.
///
/// Starting a task for each request would double the request's cost. The bus thread owns the worker.
final class Worker: @unchecked Sendable {
    /// The current request; `nil` once it is answered.
    var request: AcceptedRequest?
    /// Resumed when there is a request, or when no more will come.
    var waiting: UnsafeContinuation<Void, Never>?
}
