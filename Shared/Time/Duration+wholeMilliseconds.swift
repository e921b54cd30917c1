extension Duration {
    /// Milliseconds, rounded towards zero; the largest or smallest number where there are more than it holds.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
        let (sum, isStillTooLong) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isTooLong || isStillTooLong ? (seconds < 0 ? .min : .max) : sum
    }
}
