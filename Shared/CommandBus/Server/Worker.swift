/// One of the tasks that handle a server's requests, one after another.
///
/// Starting a task for each request would cost as much as all else that the bus does for it. Belongs to the bus thread.
final class Worker: @unchecked Sendable {
    /// What is being handled; `nil` as soon as it is answered.
    var request: AcceptedRequest?
    /// Resumed when there is a request, or when there will be none any more.
    var waiting: UnsafeContinuation<Void, Never>?
}
