//! HorizontalPodAutoscalers: which workload each of them scales, and whether it can.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::target::TargetRef;
use super::{Kind, KindInfo, Listed, object};

/// A HorizontalPodAutoscaler.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HorizontalPodAutoscaler {
    /// Name, namespace, labels.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: AutoscalerSpec,
    /// What its controller found.
    #[serde(deserialize_with = "nullable")]
    pub status: AutoscalerStatus,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AutoscalerSpec {
    /// The workload that it scales.
    #[serde(deserialize_with = "nullable")]
    pub scale_target_ref: TargetRef,
}

/// What its controller found.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AutoscalerStatus {
    /// `ScalingActive` says whether it could compute how many replicas there should be.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for HorizontalPodAutoscaler {
    type Object = HorizontalPodAutoscaler;
    const KIND: Kind = Kind::HorizontalPodAutoscaler;
    const INFO: KindInfo = KindInfo {
        aliases: &["hpa"],
        passes: "{spec: {scaleTargetRef: reference}, status: {conditions: conditions}}",
        ..KindInfo::namespaced("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
    };
}

object!(HorizontalPodAutoscaler);
