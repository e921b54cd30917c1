import TestSupport
import Testing

/// The product from outside: the real executables, an HTTP client and an emulated phone.
///
/// One suite after another, since each keeps up to ten processes and the machine busy. In level one ``HarmTests`` run beside them. Tests
/// share a running product where they can: those that leave it as it was, those that harm a service and wait until it is well again, and
/// those that start the services one by one. Each has its own subjects, accounts and messages. A test has its own stack if it stops or
/// fills it, or needs other settings.
@Suite("System", .serialized, .aloneAtLength)
enum SystemTests {
    /// Requests without limits: many tests call one gateway.
    static let noLimits = ["MSI_GATEWAY_ADDRESS_REQUESTS": "1000000", "MSI_GATEWAY_ACCOUNT_REQUESTS": "1000000"]

    /// Tests that leave the product as it was.
    @Suite(
        "One product",
        .stack(noLimits.merging(["MSI_GATEWAY_CORS_ORIGINS": "https://portal.example.edu,http://localhost:3000"]) { $1 }))
    enum OneProduct {
        /// A second product at the same time. Its services listen at TCP ports, its phone would like the port of the first one's, and its
        /// state directory has a token before its first start.
        @Suite("A second product", .stack(preparedBy: SecondState.prepare))
        enum SecondProduct {}
    }
}
