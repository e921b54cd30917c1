/// A transfer in the hands of the transport's thread.
final class OpenTransfer {
    let transfer: Transfer
    /// What carries it; `nil` as long as it waits for its turn.
    var easy: CurlEasy?
    var hasEnded = false

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }
}
