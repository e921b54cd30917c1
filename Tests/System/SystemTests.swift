import Testing

/// The product from outside: the real executables, an HTTP client and an emulated phone.
///
/// One suite after another, since each keeps five processes and the machine busy.
@Suite("System", .serialized)
enum SystemTests {}
