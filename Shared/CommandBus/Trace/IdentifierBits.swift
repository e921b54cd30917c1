import Synchronization

/// Bits for identifiers that must be unique and need not be secret. A request needs several of them, and each call of the system's
/// generator is a system call.
enum IdentifierBits {
    private static let state = Atomic<UInt64>(UInt64.random(in: .min ... .max))

    /// The next number of SplitMix64 from a random start; never 0.
    static func next() -> UInt64 {
        while true {
            var bits = state.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
            bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
            bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
            bits ^= bits >> 31
            if bits != 0 { return bits }
        }
    }
}
